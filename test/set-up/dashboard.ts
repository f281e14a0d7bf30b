import { buildDashboard } from '../../tools/build/build-dashboard.mjs';

/** vitest's global set-up: the dashboard as it is shipped. */
export async function setup(): Promise<void> {
  const complaint = await buildDashboard();
  if (complaint !== undefined) throw new Error(`the dashboard could not be built:\n${complaint}`);
}
