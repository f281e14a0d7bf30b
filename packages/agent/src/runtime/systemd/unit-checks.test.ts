import { expect, it } from 'vitest';
import { refusalOf } from './unit-checks.ts';
import { parseSettings } from './unit-settings.ts';
import { readProperties } from './unit-values.ts';

const settings = (lines: string) => parseSettings(readProperties(lines));

it.each([
  ['Type=oneshot', 'oneshot'],
  ['RemainAfterExit=yes', 'RemainAfterExit'],
  ['Transient=yes', 'transient'],
  ['RefuseManualStart=yes', 'RefuseManualStart'],
  ['RefuseManualStop=yes', 'RefuseManualStop'],
])('a unit with %s cannot be upgraded', (line, word) => {
  expect(refusalOf(settings(line))).toContain(word);
});

it('every other type of service can', () => {
  for (const type of ['simple', 'exec', 'forking', 'notify', 'dbus', 'idle']) {
    expect(refusalOf(settings(`Type=${type}`))).toBeUndefined();
  }
});
