import { lockProcess } from '../../host/process-lock.ts';
import { Supervisor } from './supervisor.ts';

/**
 * Body of a supervisor's process.
 * @param folder the service's folder; one supervisor at a time lives there, another one ends at once
 */
export async function runSupervisor(folder: string): Promise<void> {
  if ((await lockProcess(`supervisor ${folder}`)) === null) return;
  await Supervisor.run(folder, (error) => console.error(new Date().toISOString(), error));
  process.exit(0);
}
