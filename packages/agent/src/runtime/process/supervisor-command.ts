import { createRequire } from 'node:module';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

/** Name of the agent's hidden command that runs a supervisor. */
export const SUPERVISE = 'supervise';

/**
 * Program and arguments that start a supervisor, to which its folder is added: this very program when it carries its
 * own runtime, this very file when the agent is one bundle, the source by tsx otherwise.
 */
export function supervisorCommand(): [program: string, ...args: string[]] {
  if (isSea()) return [process.execPath, SUPERVISE];
  const here = fileURLToPath(import.meta.url);
  if (!here.endsWith('.ts')) return [process.execPath, here, SUPERVISE];
  const entry = fileURLToPath(new URL('./supervisor-main.ts', import.meta.url));
  return [process.execPath, '--import', createRequire(import.meta.url).resolve('tsx'), entry];
}
