import { fileURLToPath } from 'node:url';
import { createDockerLab, type DockerLab, dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { CHECKOUT_BIND, vitestInside } from '@hoodcloud/testkit/host-lab/vitest-inside';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const inside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

describe.skipIf(!dockerAvailable())('the Docker adapter inside a host', () => {
  let lab: DockerLab;
  let host: Host;

  beforeAll(async () => {
    ({ lab, host } = await createDockerLab('adapter', { binds: [CHECKOUT_BIND] }));
  });
  afterAll(() => lab.clean());

  it.each([
    ['keeps the contract of runtime adapters', './docker-conformance.inside.ts'],
    ['copes with what hosts, engines and registries do to it', './docker-adapter.inside.ts'],
  ])('%s', { timeout: 600_000 }, async (_, file) => {
    const tests = await vitestInside(host, inside(file));
    for (const { name, passed } of tests) console.log(`${passed ? '✓' : '✗'} ${name}`);
    expect(tests.filter(({ passed }) => !passed)).toEqual([]);
    expect(tests.length).toBeGreaterThan(0);
  });
});
