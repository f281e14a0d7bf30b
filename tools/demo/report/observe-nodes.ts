import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** What a node's process shows. */
export interface ObservedNode {
  readonly name: string;
  readonly pid: number;
  readonly sha256: string;
}

export interface NodeToObserve {
  readonly name: string;
  /** The data folder that the process got on its command line. */
  readonly home: string;
}

/** There is not exactly one process of a node, so nothing can be said about what it runs. */
export class NodeNotObservable extends Error {
  readonly code = 'node_not_observable';
}

/**
 * Reads from /proc what each node runs: no word of the product is asked for. The process is found by its command line,
 * the executable is hashed through /proc/<pid>/exe, which is the running file even when its name was replaced.
 * @throws NodeNotObservable when a node has no process or more than one
 */
export async function observeNodes(nodes: readonly NodeToObserve[]): Promise<ObservedNode[]> {
  return Promise.all(
    nodes.map(async ({ name, home }) => {
      const pids = await pidsOf(home);
      const [pid] = pids;
      if (pid === undefined || pids.length > 1) {
        throw new NodeNotObservable(`${name} has ${pids.length} processes with --home ${home}; one was expected`);
      }
      return { name, pid, sha256: await sha256Of(`/proc/${pid}/exe`) };
    }),
  );
}

/** Processes that were started as `… start --home <home>`. */
export async function pidsOf(home: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = await commandLine(pid);
      const at = words.indexOf('--home');
      return words[at - 1] === 'start' && words[at + 1] === home ? [pid] : [];
    }),
  );
  return found.flat();
}

async function commandLine(pid: number): Promise<string[]> {
  // a process may end between the listing and this read
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.split('\0');
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
