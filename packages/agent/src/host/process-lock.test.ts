import { expect, it } from 'vitest';
import { isProcessLocked, lockProcess } from './process-lock.ts';

it('is held by one at a time, and free again when its holder has gone', async () => {
  const name = `test ${process.pid} ${performance.now()}`;
  const held = await lockProcess(name);
  expect(held).not.toBeNull();
  expect(await lockProcess(name)).toBeNull();
  expect(await isProcessLocked(name)).toBe(true);
  const other = await lockProcess(`${name} other`);
  expect(other).not.toBeNull();
  other?.close();
  await new Promise((closed) => held?.close(closed));
  expect(await isProcessLocked(name)).toBe(false);
  const again = await lockProcess(name);
  expect(again).not.toBeNull();
  again?.close();
});
