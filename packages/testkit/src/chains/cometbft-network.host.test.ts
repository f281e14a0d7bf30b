import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLab, type HostLab, hostsAvailable } from '../host-lab/host-lab.ts';
import { ensureCometbft } from './cometbft-binaries.ts';
import { COMETBFT_ON_HOST, installCometbft } from './cometbft-host.ts';
import { createNetwork, DEFAULT_PORTS, type Validator } from './cometbft-network.ts';
import { height, signers, status } from './cometbft-rpc.ts';
import { HeightWatcher } from './height-watcher.ts';

describe.skipIf(!hostsAvailable())('a CometBFT network on four systemd hosts', () => {
  let lab: HostLab;
  let dir: string;
  let validators: Validator[];

  beforeAll(async () => {
    const binary = await ensureCometbft('v0.38.17');
    dir = await mkdtemp(join(tmpdir(), 'cometbft-'));
    lab = await createLab();
    const hosts = await Promise.all(['one', 'two', 'three', 'four'].map((name) => lab.up(name)));
    const places = hosts.map(({ name, ip }) => ({ name, host: ip, ...DEFAULT_PORTS }));
    validators = await createNetwork({ binary: binary.path, dir: join(dir, 'network'), places });
    await Promise.all(hosts.map((host, index) => installCometbft(host, validators[index] as Validator, binary.path)));
    await Promise.all(hosts.map((host) => host.must('systemctl', 'start', COMETBFT_ON_HOST.unit)));
  });

  afterAll(async () => {
    await lab.clean();
    await rm(dir, { recursive: true });
  });

  it('makes blocks that all four sign, and goes on while one is stopped', async () => {
    const [first] = validators as [Validator];
    const addresses = validators.map(({ address }) => address);
    const allSigned = async () => {
      const signed = await signers(first.rpcUrl, (await height(first.rpcUrl)) - 1);
      return addresses.every((address) => signed.has(address));
    };
    await vi.waitUntil(() => allSigned().catch(() => false), { timeout: 240_000, interval: 100 });
    expect(await status(first.rpcUrl)).toMatchObject({ votingPower: 100, address: first.address });

    const watcher = new HeightWatcher(
      validators.map(({ rpcUrl }) => rpcUrl),
      100,
    );
    const before = await vi.waitUntil(() => watcher.report, { timeout: 60_000, interval: 50 });
    await lab.hosts[3]?.must('systemctl', 'stop', COMETBFT_ON_HOST.unit);
    const grown = () => (watcher.report?.lastHeight ?? 0) >= before.lastHeight + 3;
    await vi.waitUntil(grown, { timeout: 240_000, interval: 100 });
    const report = await watcher.stop();

    expect(report.lastHeight - report.firstHeight).toBeGreaterThanOrEqual(3);
    expect(report.longestPauseMs).toBeGreaterThan(200);
    expect(report.fewestUp).toBe(3);
  });
});
