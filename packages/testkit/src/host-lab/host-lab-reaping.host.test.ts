import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createLab, hostsAvailable } from './host-lab.ts';

const OWNER = `
  const { createLab } = await import(${JSON.stringify(new URL('./host-lab.ts', import.meta.url).href)});
  const lab = await createLab();
  const host = await lab.up('orphan');
  console.log(JSON.stringify({ dir: lab.dir, pid: await host.pid() }));
  setInterval(() => undefined, 1000);
`;

describe.skipIf(!hostsAvailable())('host lab of a killed run', () => {
  it('is removed with its running hosts by the next lab', async () => {
    const owner = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', OWNER]);
    const [line] = await once(owner.stdout, 'data');
    const left = JSON.parse(String(line));
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(existsSync(`/proc/${left.pid}/root/run/systemd`)).toBe(true);

    const lab = await createLab();
    try {
      expect(existsSync(`${left.dir}/hosts/orphan`)).toBe(false);
      expect(existsSync(`/proc/${left.pid}/root/run/systemd`)).toBe(false);
    } finally {
      await lab.clean();
    }
  });
});
