import { runTypeScript } from '../bootstrap/run-typescript.mjs';
import { setUp } from '../bootstrap/set-up.mjs';
import { buildDashboard } from '../build/build-dashboard.mjs';
import { buildProgram, PROGRAM_FILES } from '../build/build-program.mjs';

/** `start [arguments]`: every role in one process, Postgres and Temporal as its children, the dashboard, and hoodctl to order it by. */
export async function run(args) {
  await setUp({ stores: true });
  complain('The dashboard', await buildDashboard());
  complain('hoodctl', await buildProgram('cli'));
  console.log(`Put hoodctl on your PATH by: sudo ln -sf "$PWD/${PROGRAM_FILES.cli}" /usr/local/bin/hoodctl`);
  return runTypeScript('packages/controlplane/src/bin/hoodcloud.ts', ['dev', ...args]);
}

function complain(what, complaint) {
  if (complaint !== undefined) console.error(`${what} could not be built; the rest runs.\n${complaint.trimEnd()}`);
}
