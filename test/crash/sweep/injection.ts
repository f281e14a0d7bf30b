import { type DiskChange, diskChangeOf, operandsOf } from './disk-change.ts';
import type { SystemCall } from './strace-log.ts';

/** What happens to one system call: the program ends before it, or the kernel refuses it. */
export type Harm = 'SIGKILL' | 'ENOSPC' | 'EIO' | 'EROFS';

/** What a kernel may do to a call of each kind, by its manual page; the power goes at any of them. */
const HARMS: Readonly<Record<DiskChange['kind'], readonly Harm[]>> = {
  open_for_write: ['SIGKILL', 'ENOSPC', 'EIO', 'EROFS'],
  write: ['SIGKILL', 'ENOSPC', 'EIO'],
  fsync: ['SIGKILL', 'ENOSPC', 'EIO'],
  rename: ['SIGKILL', 'ENOSPC', 'EIO', 'EROFS'],
  link: ['SIGKILL', 'ENOSPC', 'EIO', 'EROFS'],
  unlink: ['SIGKILL', 'EIO', 'EROFS'],
  mkdir: ['SIGKILL', 'ENOSPC', 'EIO', 'EROFS'],
  rmdir: ['SIGKILL', 'EIO', 'EROFS'],
  chmod: ['SIGKILL', 'EIO', 'EROFS'],
  chown: ['SIGKILL', 'EIO', 'EROFS'],
  setxattr: ['SIGKILL', 'ENOSPC', 'EIO', 'EROFS'],
  utimes: ['SIGKILL', 'EIO', 'EROFS'],
};

/** One mutating system call of a run, named so that it is met again in the next run of the same order. */
export interface CallSite {
  readonly kind: DiskChange['kind'];
  readonly call: string;
  readonly path: string;
  /** It is the nth call of this name with this path by its thread, counted from 1. */
  readonly nth: number;
}

/** The mutating calls of a traced run on files that matter, in the order of the calls. */
export function callSites(calls: readonly SystemCall[], matters: (path: string) => boolean): CallSite[] {
  const seen = new Map<string, number>();
  const sites: CallSite[] = [];
  for (const call of calls) {
    // strace counts what only reads too (an `openat` is one, whatever it is for), and a rename by its old name
    const paths = operandsOf(call.args);
    for (const path of new Set(call.name === 'rename' ? paths.slice(0, 1) : paths)) {
      const key = `${call.thread} ${call.name} ${path}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
    const change = diskChangeOf(call);
    if (change === null || !matters(change.path)) continue;
    const nth = seen.get(`${call.thread} ${call.name} ${change.path}`) ?? 1;
    sites.push({ kind: change.kind, call: call.name, path: change.path, nth });
  }
  return sites;
}

/** Arguments of `strace` that do the harm at the site and nowhere else. */
export function straceArguments({ call, path, nth }: CallSite, harm: Harm): string[] {
  const what = harm === 'SIGKILL' ? 'signal=SIGKILL' : `error=${harm}`;
  return ['-P', path, '-e', `trace=${call}`, '-e', `inject=${call}:${what}:when=${nth}`];
}

/** One run of the sweep: a system call, and what becomes of it. */
export interface HarmedCall {
  readonly site: CallSite;
  readonly harm: Harm;
}

/** Everything that can happen to the calls. */
export function everyHarm(sites: readonly CallSite[]): HarmedCall[] {
  return sites.flatMap((site) => HARMS[site.kind].map((harm) => ({ site, harm })));
}

/** Of each kind of call and each harm one, from other places of the run by turns; the share of one of several hosts. */
export function sampleOf(all: readonly HarmedCall[], { host, hosts }: { host: number; hosts: number }): HarmedCall[] {
  const groups = new Map<string, HarmedCall[]>();
  for (const one of all) {
    const key = `${one.site.kind} ${one.harm}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()]
    .filter((_, index) => index % hosts === host)
    .flatMap((group, index) => group[Math.floor((group.length * ((index * 5) % 11)) / 11)] ?? []);
}

/**
 * Every call with one of its harms, the next call with the next, so that each share is spread over the whole run, and
 * all shares together are everything. @param share `2/5` is the second of five
 */
export function shareOf(all: readonly HarmedCall[], share: string): HarmedCall[] {
  const [own, of] = share.split('/').map(Number);
  if (own === undefined || of === undefined || !(own >= 1 && own <= of)) {
    throw new RangeError(`a share is such as 2/5, the second of five, and not ${share}`);
  }
  const sites = [...new Set(all.map(({ site }) => site))];
  return sites.flatMap((site, place) =>
    all.filter((one) => one.site === site).filter((_, nth) => (place + nth) % of === own - 1),
  );
}

/** For people: `fsync 2 of /etc/app/.app.conf.hoodcloud-tmp: EIO`. */
export function nameOfHarm({ site, harm }: HarmedCall): string {
  return `${site.call} ${site.nth} of ${site.path}: ${harm}`;
}
