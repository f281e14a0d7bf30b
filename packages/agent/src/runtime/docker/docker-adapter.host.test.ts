import { fileURLToPath } from 'node:url';
import { createDockerLab, type DockerLab, dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { CHECKOUT_BINDS, vitestInside } from '@hoodcloud/testkit/host-lab/vitest-inside';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const inside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

describe.skipIf(!dockerAvailable())('the Docker adapter inside a host', () => {
  let lab: DockerLab;
  let hosts: Record<'contract' | 'trouble' | 'backups' | 'steps', Host>;

  beforeAll(async () => {
    const first = await createDockerLab('contract', { binds: CHECKOUT_BINDS });
    lab = first.lab;
    const up = async (name: string) => (await lab.up(name, { binds: CHECKOUT_BINDS })).host;
    const [trouble, backups, steps] = await Promise.all([up('trouble'), up('backups'), up('steps')]);
    hosts = { contract: first.host, trouble, backups, steps };
  });
  afterAll(() => lab.clean());

  // side by side, for most of the time is waiting; one of them kills the engine of its host
  it.concurrent.each([
    ['keeps the contract of runtime adapters', 'contract', './docker-conformance.inside.ts'],
    ['copes with what hosts, engines and registries do to it', 'trouble', './docker-adapter.inside.ts'],
    ['leaves no old container behind, and removes nobody else’s', 'backups', './docker-backups.inside.ts'],
    ['runs steps of the vendor as the container runs', 'steps', './container-hooks.inside.ts'],
  ] as const)('%s', { timeout: 600_000 }, async (_, host, file) => {
    const tests = await vitestInside(hosts[host], inside(file));
    for (const { name, passed } of tests) console.log(`${passed ? '✓' : '✗'} ${name}`);
    expect(tests.filter(({ passed }) => !passed)).toEqual([]);
    expect(tests.length).toBeGreaterThan(0);
  });
});
