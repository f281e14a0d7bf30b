import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLab, type HostLab, hostsAvailable } from './host-lab.ts';
import type { Host } from './lab-host.ts';

const CHECKOUT = fileURLToPath(new URL('../../../..', import.meta.url));

describe.skipIf(!hostsAvailable())('host lab', () => {
  let lab: HostLab;
  let one: Host;
  let two: Host;

  beforeAll(async () => {
    lab = await createLab();
    [one, two] = await Promise.all([
      lab.up('one', { binds: [{ source: CHECKOUT, target: '/opt/checkout' }] }),
      lab.up('two'),
    ]);
  });
  afterAll(() => lab.clean());

  it('boots a real systemd that runs the same node, with the checkout read-only', async () => {
    expect(await one.must('cat', '/proc/1/comm')).toBe('systemd\n');
    expect(await one.must('node', '-p', 'process.version')).toBe(`${process.version}\n`);
    expect(await one.must('ls', '/opt/checkout/package.json')).toBe('/opt/checkout/package.json\n');
    expect((await one.exec('touch', '/opt/checkout/planted')).code).not.toBe(0);
  });

  it('gives exit code, output and input of a command', async () => {
    expect(await one.exec('sh', '-c', 'echo out; echo err >&2; exit 7')).toEqual({
      stdout: 'out\n',
      stderr: 'err\n',
      code: 7,
    });
    await one.writeFile('/opt/app/run.sh', '#!/bin/sh\necho written\n', 0o755);
    expect(await one.must('/opt/app/run.sh')).toBe('written\n');
    await expect(one.must('false')).rejects.toThrow('one: false ended with 1');
  });

  it('keeps the disk and the enabled units over a power loss, under a new boot id', async () => {
    const unit = '[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n';
    await one.writeFile('/etc/systemd/system/app.service', unit);
    await one.sh('systemctl daemon-reload; systemctl enable --now app; echo kept >/var/lib/kept; sync');
    const boot = await one.must('cat', '/proc/sys/kernel/random/boot_id');

    await one.kill();
    expect(await one.pid()).toBeUndefined();
    expect(await one.readFile('/var/lib/kept')).toBe('kept\n');
    await one.boot();

    expect(await one.must('cat', '/var/lib/kept')).toBe('kept\n');
    expect(await one.must('systemctl', 'is-active', 'app')).toBe('active\n');
    expect(await one.must('cat', '/proc/sys/kernel/random/boot_id')).not.toBe(boot);
  });

  it('reboots in order', async () => {
    const before = await two.pid();
    await two.reboot();
    expect(await two.pid()).not.toBe(before);
  });

  it.each(['switch', 'cable', ['-p', 'tcp']] as const)('cuts and heals one host: %s', async (how) => {
    const server = createServer((socket) => socket.end('hello')).listen(0, lab.controlAddress);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const reaches = async (host: Host, withinSeconds: number) => {
      const outcome = await host.exec(
        'timeout',
        `${withinSeconds}`,
        'bash',
        '-c',
        `exec 3<>/dev/tcp/control/${port} && cat <&3`,
      );
      return outcome.stdout === 'hello';
    };

    await one.cut(how);
    expect(await reaches(one, 2)).toBe(false);
    expect(await reaches(two, 60)).toBe(true);
    await one.heal();
    expect(await reaches(one, 60)).toBe(true);
    server.close();
  });

  it('stands beside another lab, and leaves nothing behind', async () => {
    const other = await createLab();
    const host = await other.up('one');
    expect(host.ip).not.toBe(one.ip);
    expect(await host.must('hostname')).toBe('one\n');
    await other.clean();
    expect(existsSync(other.dir)).toBe(false);
    expect(await one.must('hostname')).toBe('one\n');
  });
});
