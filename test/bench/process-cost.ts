import { readFileSync } from 'node:fs';

/** Clock ticks a second in /proc/PID/stat; 100 on every Linux that Node runs on. */
const TICKS = 100;

/** Resident memory of a process, MB. */
export function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Processor time of a process so far, user and system, seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // from field 3 on (proc(5))
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
