import { expect, it } from 'vitest';
import { LiveScreen } from './live-screen.ts';

function screen(isTTY: boolean) {
  const written: string[] = [];
  return { written, live: new LiveScreen({ write: (text) => written.push(text), isTTY, columns: 80 }) };
}

it('draws a frame over the one before and keeps lines above it', () => {
  const { written, live } = screen(true);
  live.draw('one\ntwo');
  live.print(['event']);
  live.draw('three');
  expect(written).toEqual(['one\ntwo\n', '\x1b[2A\r\x1b[0Jevent\none\ntwo\n', '\x1b[2A\r\x1b[0Jthree\n']);
});

it('leaves the last frame standing when it is released', () => {
  const { written, live } = screen(true);
  live.draw('one');
  live.release();
  live.print(['end']);
  expect(written).toEqual(['one\n', 'end\n']);
});

it('writes lines only where there is no terminal', () => {
  const { written, live } = screen(false);
  live.draw('one');
  live.print(['event']);
  expect(written).toEqual(['event\n']);
});
