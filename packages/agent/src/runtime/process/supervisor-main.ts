import { runSupervisor } from './run-supervisor.ts';

await runSupervisor(process.argv[2] ?? '');
