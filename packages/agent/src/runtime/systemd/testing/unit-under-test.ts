import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { FileHashes } from '../../../host/file-hash.ts';
import { executableOf } from '../../../host/process-table.ts';
import type { StartOptions } from '../../runtime-adapter.ts';
import { Systemctl } from '../systemctl.ts';
import { SystemdAdapter } from '../systemd-adapter.ts';

const run = promisify(execFile);
export const systemctl = async (...args: string[]) => (await run('systemctl', args)).stdout.trim();
/** A shell script on this host; its output, or a rejection when it fails. */
export const shell = async (script: string) => (await run('bash', ['--norc', '-ec', script])).stdout.trim();
/** Generous: the machine may be busy. */
export const soon = () => AbortSignal.timeout(120_000);

interface Written {
  /** Lines of `[Service]`; `%PROGRAM%` and `%FOLDER%` stand for the unit's own. */
  readonly service: string;
  /** Lines of `[Unit]`. */
  readonly unit?: string;
  readonly user?: string;
  /** Where the unit file is written. */
  readonly unitFolder?: string;
  readonly installPath?: string;
}

/** A unit of the host that a test runs in, prepared by an adapter; the program is a copy of `sleep` in a folder of its own. */
export class UnitUnderTest {
  readonly name: string;
  readonly folder: string;
  readonly dataDir: string;
  readonly program: string;
  readonly #written: Written;

  private constructor(name: string, folder: string, written: Written) {
    this.name = name;
    this.folder = folder;
    this.#written = written;
    this.dataDir = join(folder, 'data');
    this.program = written.installPath?.replace('%FOLDER%', folder) ?? join(folder, 'node');
  }

  static async write(written: Written, name?: string): Promise<UnitUnderTest> {
    const folder = await mkdtemp('/opt/unit-');
    await shell(`chmod 755 ${folder}`);
    const one = new UnitUnderTest(name ?? `${basename(folder).toLowerCase()}.service`, folder, written);
    await mkdir(one.dataDir);
    await copyFile('/usr/bin/sleep', join(folder, 'node'));
    const text = [
      `[Unit]\n${written.unit ?? ''}`,
      `[Service]\n${written.service}`,
      '[Install]\nWantedBy=multi-user.target\n',
    ];
    await one.writeUnit(one.#templateOrName(), text.join('\n'));
    return one;
  }

  /** Another unit file of this test. */
  async writeUnit(name: string, text: string): Promise<void> {
    const folder = this.#written.unitFolder ?? '/etc/systemd/system';
    await mkdir(folder, { recursive: true });
    const filled = text.replaceAll('%PROGRAM%', this.program).replaceAll('%FOLDER%', this.folder);
    await writeFile(join(folder, name), filled);
    if (this.#written.user === undefined) await systemctl('daemon-reload');
  }

  /** A new one each time, as a restarted agent has it. */
  adapter(): SystemdAdapter {
    const { name: unit, program: installPath, dataDir } = this;
    const parts = { systemctl: new Systemctl().forUser(this.#written.user ?? null), hashes: new FileHashes() };
    return new SystemdAdapter({ unit, installPath, dataDir, configRoots: [], allowHttpHosts: [] }, parts);
  }

  async prepared(): Promise<SystemdAdapter> {
    const adapter = this.adapter();
    await adapter.reloadDaemon();
    await adapter.prepare();
    return adapter;
  }

  async started(options: Partial<StartOptions> = {}): Promise<SystemdAdapter> {
    const adapter = await this.prepared();
    await adapter.start({ signal: soon(), stableMs: 100, ...options });
    return adapter;
  }

  show(property: string, unit = this.name): Promise<string> {
    return systemctl('show', unit, '-p', property, '--value');
  }

  pids(): Promise<number[]> {
    return pidsRunning(this.program);
  }

  async remove(): Promise<void> {
    await this.adapter().leave();
    await systemctl('kill', '--signal=SIGKILL', this.name).catch(() => undefined); // most have ended by themselves
    await rm(this.folder, { recursive: true, force: true });
  }

  #templateOrName(): string {
    return this.name.replace(/@.*\./, '@.');
  }
}

/** Found by looking at every process of the host, not through the unit. */
export async function pidsRunning(executable: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const paths = await Promise.all(pids.map(executableOf));
  return pids.filter((_, index) => paths[index] === executable);
}

/** Waits for a condition; generous, since the machine may be busy. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  await vi.waitUntil(holds, { timeout: 120_000, interval: 50 });
}
