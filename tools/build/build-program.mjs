import { runCollected } from '../bootstrap/run-command.mjs';

/** Where each program's one file goes. */
export const PROGRAM_FILES = { cli: 'dist/hoodctl.mjs', agent: 'dist/hoodcloud-agent.mjs' };

/**
 * Bundles a program into one file that runs wherever Node does.
 * @param {'cli' | 'agent'} name
 * @returns {Promise<string | undefined>} what went wrong
 */
export async function buildProgram(name) {
  const file = PROGRAM_FILES[name];
  const { code, output } = await runCollected(process.execPath, ['tools/build/bundle-program.mjs', name, file]);
  return code === 0 ? undefined : output;
}
