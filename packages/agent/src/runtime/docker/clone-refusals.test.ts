import { describe, expect, it } from 'vitest';
import { cloneRefusals, type RefusalInput } from './clone-refusals.ts';
import type { HostConfig } from './container-inspect.ts';
import { containerInspect, imageInspect } from './test-inspect.ts';

const other = (HostConfig: Partial<HostConfig>, Name = '/other') =>
  containerInspect({ Id: 'e'.repeat(64), Name, HostConfig });
const ask = (parts: Partial<RefusalInput> = {}) =>
  cloneRefusals({ container: containerInspect(), oldImage: imageInspect(), others: [], written: [], ...parts });
const codes = (parts: Partial<RefusalInput>) => ask(parts).map(({ code }) => code);

describe('a container is replaced unless something would be lost (A14)', () => {
  it('an ordinary one is, with others beside it', () => {
    const others = [other({ NetworkMode: 'chain', VolumesFrom: ['nodes'], Links: ['/db:/other/node'] })];
    expect(ask({ others })).toEqual([]);
  });

  it('not one that was started with --rm', () => {
    const [refusal] = ask({ container: containerInspect({ HostConfig: { AutoRemove: true } }) });
    expect(refusal?.code).toBe('auto_remove');
    expect(refusal?.reason).toMatch(/^Container node was started with --rm: .* Make it anew without --rm\.$/);
  });

  it.each<[string, Partial<HostConfig>]>([
    ['its network', { NetworkMode: 'container:node' }],
    ['its network', { NetworkMode: `container:${containerInspect().Id}` }],
    ['its process namespace', { PidMode: 'container:node' }],
    ['its shared memory', { IpcMode: 'container:node' }],
    ['its volumes', { VolumesFrom: ['node:ro'] }],
    ['its volumes', { VolumesFrom: [containerInspect().Id.slice(0, 12)] }],
    ['a link to it', { Links: ['/node:/other/peer'] }],
  ])('not one of which another uses %s: %o (field-case 76)', (what, HostConfig) => {
    const [refusal] = ask({ others: [other(HostConfig)] });
    expect(refusal?.code).toBe('depended_upon');
    expect(refusal?.reason).toContain(`Container other uses ${what}`);
  });

  it('not one that keeps more than 1 MB in its own layer, unless the policy allows it', () => {
    const written = [
      { path: '/keys/one', bytes: 600_000 },
      { path: '/keys/two', bytes: 600_000 },
    ];
    const [refusal] = ask({ written });
    expect(refusal?.code).toBe('writable_layer');
    expect(refusal?.reason).toContain('1200000 bytes');
    expect(refusal?.reason).toContain('/keys/one');
    expect(ask({ written, writableLayerLimit: null })).toEqual([]);
    expect(ask({ written: written.slice(1) })).toEqual([]);
  });

  it('temporary files and logs in its layer are no reason', () => {
    const at = (path: string) => [{ path, bytes: 5_000_000 }];
    for (const path of ['/tmp/x', '/var/log/node.log', '/run/x']) expect(codes({ written: at(path) })).toEqual([]);
    for (const path of ['/tmpx', '/data/tmp/x', '/logs/x'])
      expect(codes({ written: at(path) })).toEqual(['writable_layer']);
  });

  it('not one whose removal is under way (field-case 73)', () => {
    expect(codes({ container: containerInspect({ State: { Status: 'removing' } }) })).toEqual(['being_removed']);
  });

  it('not one whose image is gone: its defaults can’t be told from the operator’s settings', () => {
    expect(codes({ oldImage: null })).toEqual(['image_gone']);
  });

  it('not one that an orchestrator would start a second time (A19)', () => {
    const Labels = { 'com.docker.swarm.service.id': 'x' };
    expect(codes({ container: containerInspect({ Config: { Labels } }) })).toEqual(['managed_elsewhere']);
  });

  it('not one that was made with the volumes of a container that is gone', () => {
    const container = containerInspect({ HostConfig: { VolumesFrom: ['other:ro'] } });
    expect(codes({ container })).toEqual(['volumes_from_gone']);
    expect(codes({ container, others: [other({})] })).toEqual([]);
  });

  it('not one whose restart policy the engine can’t set aside: the old one could come back (A14, A19)', () => {
    const [refusal] = ask({ changesRestartPolicy: false });
    expect(refusal?.code).toBe('restart_policy_fixed');
    expect(refusal?.reason).toContain('restart policy always');
    const container = containerInspect({ HostConfig: { RestartPolicy: { Name: 'no' } } });
    expect(ask({ changesRestartPolicy: false, container })).toEqual([]);
    expect(ask({ changesRestartPolicy: true })).toEqual([]);
  });

  it('every reason is told at once', () => {
    const container = containerInspect({ HostConfig: { AutoRemove: true } });
    expect(codes({ container, oldImage: null, others: [other({ NetworkMode: 'container:node' })] })).toEqual([
      'auto_remove',
      'image_gone',
      'depended_upon',
    ]);
  });
});
