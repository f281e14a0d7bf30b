import { dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CoveredOption,
  GROUP,
  NOT_COVERED,
  NOT_STARTED,
  ON_A_NETWORK,
  ON_THE_BRIDGE,
  ON_THE_HOST,
} from './covered-options.ts';
import { createFidelityLab, differencesNow, type FidelityLab, inspectOf, swap } from './fidelity-lab.ts';
import { seenFromInside } from './seen-from-inside.ts';

/** Where a container can keep data, by the kind of mount. */
const DATA_AT = [
  '/image-data',
  '/own-anonymous',
  '/nameless',
  '/named',
  '/rw',
  '/slave',
  '/mounted',
  '/shared',
  '/shared-too',
];

describe.skipIf(!dockerAvailable())('a container that uses nearly every option of docker run', () => {
  let lab: FidelityLab;
  beforeAll(async () => {
    lab = await createFidelityLab();
  });
  afterAll(() => lab?.lab.clean());

  const run = (verb: 'run -d' | 'create', name: string, options: readonly CoveredOption[], command = '') => {
    const group = lab.lab.hosts.groupOf(lab.host);
    const words = options.flatMap((option) => option.arguments).map((word) => `'${word.replace(GROUP, group)}'`);
    return lab.host.sh(`docker ${verb} --name ${name} ${words.join(' ')} ${lab.v1} ${command}`);
  };

  it('every option that docker run knows is covered, or it is said why not', async () => {
    const help = await lab.host.must('docker', 'run', '--help');
    const known = [...help.matchAll(/^ +(?:-\w, )? *(--[a-z0-9-]+)/gm)].map(([, option]) => option);
    const covered = [ON_A_NETWORK, ON_THE_BRIDGE, ON_THE_HOST, ...Object.values(NOT_STARTED)]
      .flat()
      .map(({ option }) => option);
    const listed = new Set([...covered, ...Object.keys(NOT_COVERED)]);
    expect(known.length).toBeGreaterThan(80);
    expect(known.filter((option) => option !== undefined && !listed.has(option))).toEqual([]);
  });

  it('has a clone that is the same in the raw inspect, from inside, and in the data of every mount (A14)', async () => {
    await run('run -d', 'full', ON_A_NETWORK, '-c /bin/app');
    await lab.engine.getNetwork('second-net').connect({ Container: 'full', EndpointConfig: { Aliases: ['later'] } });
    const at = DATA_AT.map((path) => `echo "kept at ${path}" >${path}/data`).join('; ');
    await lab.host.must('docker', 'exec', '--user=0', 'full', 'sh', '-ec', at);
    const insideBefore = await seenFromInside(lab.host, await inspectOf(lab.engine, 'full'));

    const before = await swap(lab, 'full');

    expect(await differencesNow(lab, 'full', before)).toEqual([]);
    const now = await inspectOf(lab.engine, 'full');
    expect(now.Config.Image).toBe(lab.v2);
    expect(await seenFromInside(lab.host, now)).toEqual(insideBefore);
    const read = await lab.host.must('docker', 'exec', 'full', 'cat', ...DATA_AT.map((path) => `${path}/data`));
    expect(read).toBe(DATA_AT.map((path) => `kept at ${path}\n`).join(''));
  });

  it.each([
    ['on the default bridge', 'bridge', ON_THE_BRIDGE],
    ['in the host’s namespaces', 'host', ON_THE_HOST],
  ])('has the same clone %s', async (_, name, options) => {
    await run('run -d', name, options);
    const insideBefore = await seenFromInside(lab.host, await inspectOf(lab.engine, name));
    const before = await swap(lab, name);
    expect(await differencesNow(lab, name, before)).toEqual([]);
    expect(await seenFromInside(lab.host, await inspectOf(lab.engine, name))).toEqual(insideBefore);
    await lab.engine.getContainer(name).remove({ force: true, v: true });
  });

  it.each(Object.entries(NOT_STARTED))(
    'has the same clone when it was made for %s and never started',
    async (_, options) => {
      await run('create', 'idle', options);
      const before = await swap(lab, 'idle');
      expect(await differencesNow(lab, 'idle', before)).toEqual([]);
      await lab.engine.getContainer('idle').remove({ force: true, v: true });
    },
  );
});
