import { expect, it } from 'vitest';
import { DemoUsageError, parseDemoArguments } from './demo-arguments.ts';

it('stays up and writes nothing unless it is told to', () => {
  expect(parseDemoArguments([])).toEqual({ exit: false, report: null, reset: false, standIn: false });
  expect(parseDemoArguments(['--exit', '--report', 'out.json'])).toMatchObject({ exit: true, report: 'out.json' });
});

it('refuses what it does not know, and says what it takes', () => {
  expect(() => parseDemoArguments(['--rest'])).toThrow(DemoUsageError);
  expect(() => parseDemoArguments(['--rest'])).toThrow('--reset');
});
