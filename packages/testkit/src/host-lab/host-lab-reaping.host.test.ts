import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLab, hostsAvailable } from './host-lab.ts';

const OWNER = `
  const { createLab } = await import(${JSON.stringify(new URL('./host-lab.ts', import.meta.url).href)});
  const lab = await createLab(process.argv[1]);
  const host = await lab.up('orphan');
  console.log(JSON.stringify({ dir: lab.dir, pid: await host.pid() }));
  setInterval(() => undefined, 1000);
`;

describe.skipIf(!hostsAvailable())('host lab of a killed run', () => {
  let base: string; // of this test alone: another file's lab would remove the dead one as well
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'hoodcloud-reaping-'));
  });
  afterEach(() => rm(base, { recursive: true }));

  it('is removed with its running hosts by the next lab', async () => {
    const owner = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', OWNER, base]);
    const [line] = await once(owner.stdout, 'data');
    const left = JSON.parse(String(line));
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(existsSync(`/proc/${left.pid}/root/run/systemd`)).toBe(true);

    const lab = await createLab(base);
    try {
      expect(existsSync(`${left.dir}/hosts/orphan`)).toBe(false);
      expect(existsSync(`/proc/${left.pid}/root/run/systemd`)).toBe(false);
    } finally {
      await lab.clean();
    }
  });
});
