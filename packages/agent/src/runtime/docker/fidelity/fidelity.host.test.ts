import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPOSE_CONTAINER, ComposeProject } from './testing/compose-project.ts';
import {
  type CoveredOption,
  GROUP,
  NOT_COVERED,
  NOT_STARTED,
  ON_A_NETWORK,
  ON_THE_BRIDGE,
  ON_THE_HOST,
} from './testing/covered-options.ts';
import { createFidelityLab, differencesNow, type FidelityLab, inspectOf, swap } from './testing/fidelity-lab.ts';
import { fidelityPage, type Outcome } from './testing/fidelity-page.ts';
import { seenFromInside } from './testing/seen-from-inside.ts';

/** Where a container can keep data, and on what kind of mount that is. */
const DATA_AT = {
  '/image-data': 'an anonymous volume that the image declares',
  '/own-anonymous': 'an anonymous volume by `--volume`',
  '/nameless': 'an anonymous volume by `--mount`',
  '/named': 'a named volume',
  '/rw': 'a folder of the host',
  '/slave': 'a folder of the host, with propagation',
  '/mounted': 'a folder of the host by `--mount`',
  '/shared': 'an anonymous volume of another container by `--volumes-from`',
  '/shared-too': 'a named volume of another container by `--volumes-from`',
};
const PAGE = fileURLToPath(new URL('../../../../../../docs/reference/container-fidelity.md', import.meta.url));

describe.skipIf(!dockerAvailable())('a container that uses nearly every option of docker run', () => {
  let lab: FidelityLab;
  let plain: Outcome;
  let compose: Outcome;
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

  /** Writes to every mount of the container; answers how to read it back. */
  const writeData = async (container: string) => {
    const lines = Object.keys(DATA_AT).map(
      (path) => `[ ! -d ${path} ] || { echo at ${path} >${path}/data; echo ${path}; }`,
    );
    const written = await lab.host.must('docker', 'exec', '--user=0', container, 'sh', '-ec', lines.join('\n'));
    const paths = written.split('\n').filter((path) => path !== '');
    return async (): Promise<Outcome['data']> => {
      const read = paths.map((path) => `cat ${path}/data 2>/dev/null || echo`);
      const said = (await lab.host.must('docker', 'exec', container, 'sh', '-c', read.join('\n'))).split('\n');
      return Object.fromEntries(paths.map((path, at) => [path, said[at] === `at ${path}` ? 'kept' : 'lost']));
    };
  };
  const allKept = (paths: readonly string[]) => Object.fromEntries(paths.map((path) => [path, 'kept']));

  it('has a clone that is the same in the raw inspect, from inside, and in the data of every mount (A14)', async () => {
    await run('run -d', 'full', ON_A_NETWORK, '-c /bin/app');
    await lab.engine.getNetwork('second-net').connect({ Container: 'full', EndpointConfig: { Aliases: ['later'] } });
    const readData = await writeData('full');
    const insideBefore = await seenFromInside(lab.host, await inspectOf(lab.engine, 'full'));

    const before = await swap(lab, 'full');

    plain = { differences: await differencesNow(lab, 'full', before), data: await readData() };
    expect(plain).toEqual({ differences: [], data: allKept(Object.keys(DATA_AT)) });
    const now = await inspectOf(lab.engine, 'full');
    expect(now.Config.Image).toBe(lab.v2);
    expect(await seenFromInside(lab.host, now)).toEqual(insideBefore);
    await lab.engine.getContainer('full').remove({ force: true, v: true });
  });

  it('made by Compose and changed by hand has the same clone, and Compose still knows it (A14)', async () => {
    const project = new ComposeProject(lab.host);
    await project.up(lab.v1);
    await project.changeByHand();
    const readData = await writeData(COMPOSE_CONTAINER);
    const insideBefore = await seenFromInside(lab.host, await inspectOf(lab.engine, COMPOSE_CONTAINER));

    const before = await swap(lab, COMPOSE_CONTAINER);

    compose = { differences: await differencesNow(lab, COMPOSE_CONTAINER, before), data: await readData() };
    const hasNoWordFor = ['/nameless', '/mounted'];
    const mounted = Object.keys(DATA_AT).filter((path) => !hasNoWordFor.includes(path));
    expect(compose).toEqual({ differences: [], data: allKept(mounted) });
    expect(await seenFromInside(lab.host, await inspectOf(lab.engine, COMPOSE_CONTAINER))).toEqual(insideBefore);
    expect(await project.ps()).toMatch(/compose_node_1 .* Up/);
    await project.down();
  });

  it('is changed in this way by docker-compose up -d with a new image, and the page says so', async () => {
    const project = new ComposeProject(lab.host);
    await project.up(lab.v1);
    await project.changeByHand();
    const readData = await writeData(COMPOSE_CONTAINER);
    const before = await inspectOf(lab.engine, COMPOSE_CONTAINER);

    await project.up(lab.v2);

    const differences = await differencesNow(lab, COMPOSE_CONTAINER, before);
    const composeUp = { differences, data: await readData() };
    await project.down();
    const page = fidelityPage({ plain, compose, composeUp }, DATA_AT);
    if (process.env.HOODCLOUD_WRITE_DOCS) await writeFile(PAGE, page);
    expect(await readFile(PAGE, 'utf8'), 'the page is stale: run with HOODCLOUD_WRITE_DOCS=1').toBe(page);
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
