import { describe, expect, it } from 'vitest';
import { cloneDifferences } from './clone-differences.ts';
import type { ContainerInspect } from './container-inspect.ts';
import { containerInspect, imageInspect } from './test-inspect.ts';

const image = imageInspect({ Env: ['PATH=/bin'], Labels: { maker: 'them' }, Cmd: ['serve'] });
const container = containerInspect({
  Mounts: [{ Type: 'volume', Name: 'data', Source: '/v', Destination: '/data', Mode: 'z', RW: true, Propagation: '' }],
  Config: {
    ...{ Env: ['OWN=1', 'PATH=/bin'], Labels: { maker: 'them', own: 'me' }, Cmd: ['mine'], Entrypoint: ['/start'] },
    ...{ User: 'app', StopTimeout: 30, Healthcheck: { Test: ['CMD', 'true'], Interval: 5 }, Volumes: { '/data': {} } },
  },
  HostConfig: {
    ...{ Memory: 64, CapAdd: ['NET_ADMIN'], Ulimits: [{ Name: 'nofile', Soft: 1 }], Binds: ['data:/data'] },
    ...{ Sysctls: { a: '1' }, LogConfig: { Type: 'json-file', Config: { 'max-size': '1m' } }, FutureField: 'x' },
  },
  NetworkSettings: {
    Networks: { chain: { NetworkID: 'n', IPAMConfig: { IPv4Address: '10.0.0.9' }, Aliases: ['rpc'] } },
  },
});
const between = (clone: ContainerInspect, newImage = image) =>
  cloneDifferences({ container, image }, { container: clone, image: newImage });

/** Every value below `Config`, `HostConfig`, `Mounts` and the networks that says something. */
const LEAVES = leaves([], container).filter(([top, second]) => {
  if (top === 'NetworkSettings') return second === 'Networks';
  return top === 'Config' || top === 'HostConfig' || top === 'Mounts';
});
const FREE = new Set([
  'Config.Image',
  'Mounts.0.Mode',
  'Mounts.0.Propagation',
  'HostConfig.RestartPolicy',
  'NetworkSettings.Networks.chain.NetworkID',
]);

describe('what differs between a container and its clone', () => {
  it('is nothing where only id, times, image and handed out addresses do (A14)', () => {
    const other = 'e'.repeat(64);
    const clone = containerInspect({
      ...{ ...container, Id: other, Created: '2026-02-02T00:00:00Z', State: { Status: 'created' }, Image: 'sha256:2' },
      Config: { ...container.Config, Hostname: other.slice(0, 12), Image: 'node:v2' },
      HostConfig: { ...container.HostConfig, RestartPolicy: { Name: 'no' } },
    });
    expect(between(clone)).toEqual([]);
  });

  it('is told for every single value that is lost, of fields unknown to us too', () => {
    const kept = LEAVES.filter((path) => ![...FREE].some((free) => path.join('.').startsWith(free)));
    expect(kept.length).toBeGreaterThan(20);
    expect(kept.filter((path) => between(without(container, path)).length === 0)).toEqual([]);
  });

  it('is nothing where only the images’ own defaults changed, and everything else', () => {
    const next = imageInspect({ Env: ['PATH=/opt'], Labels: { maker: 'others' }, Cmd: ['run'] });
    const Config = { ...container.Config, Env: ['OWN=1', 'PATH=/opt'], Labels: { maker: 'others', own: 'me' } };
    expect(between(containerInspect({ ...container, Config }), next)).toEqual([]);
    const meddled = { ...Config, Env: ['OWN=2', 'PATH=/opt'], Cmd: ['run'] };
    expect(between(containerInspect({ ...container, Config: meddled }), next)).toEqual([
      'Config.Env: "OWN=1" is missing',
      'Config.Env: "OWN=2" is new',
      'Config.Cmd: ["mine"] became ["run"]',
    ]);
  });
});

function leaves(path: readonly string[], value: unknown): string[][] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [[...path]];
  return Object.entries(value).flatMap(([key, part]) => leaves([...path, key], part));
}

function without(whole: ContainerInspect, path: readonly string[]): ContainerInspect {
  const copy = structuredClone(whole) as unknown as Record<string, unknown>;
  const parent = path.slice(0, -1).reduce((part, key) => part[key] as Record<string, unknown>, copy);
  const key = path.at(-1) ?? '';
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return copy as unknown as ContainerInspect;
}
