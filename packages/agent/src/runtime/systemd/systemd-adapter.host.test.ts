import { fileURLToPath } from 'node:url';
import { createLab, type HostLab, hostsAvailable } from '@hoodcloud/testkit/host-lab/host-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { CHECKOUT_BINDS, vitestInside } from '@hoodcloud/testkit/host-lab/vitest-inside';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const inside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

describe.skipIf(!hostsAvailable())('the systemd adapter inside a host', () => {
  let lab: HostLab;
  let host: Host;

  beforeAll(async () => {
    lab = await createLab();
    host = await lab.up('adapter', { binds: CHECKOUT_BINDS });
  });
  afterAll(() => lab.clean());

  it.each([
    ['keeps the contract of runtime adapters', './systemd-conformance.inside.ts'],
    ['undoes a changed unit file', './systemd-adapter.inside.ts'],
    ['replaces and puts back a link to versioned folders', './release-link.inside.ts'],
    ['knows the kinds of units that fleets have', './unit-kinds.inside.ts'],
    ['stops units without force, and brings back what stopped with them', './unit-stops.inside.ts'],
    ['starts units patiently', './unit-starts.inside.ts'],
    ['looks at many units at once', './many-units.inside.ts'],
    ['runs steps of the vendor as the unit runs', './unit-hooks.inside.ts'],
  ])('%s', { timeout: 600_000 }, async (_, file) => {
    const tests = await vitestInside(host, inside(file));
    for (const { name, passed, durationMs } of tests) console.log(`${passed ? '✓' : '✗'} ${name} ${durationMs} ms`);
    expect(tests.filter(({ passed }) => !passed)).toEqual([]);
    expect(tests.length).toBeGreaterThan(0);
  });
});
