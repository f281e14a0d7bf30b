import { chainRuntimeSchema } from '@hoodcloud/contracts/files/chain-profile';
import { SignatureFormat } from '@hoodcloud/contracts/wire/agent-v1';
import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import { describe, expect, it } from 'vitest';
import type { RolloutNodeRow, RolloutRow } from './rollout-row.ts';
import { upgradePayload } from './upgrade-command.ts';

const sum = (digit: string) => `sha256:${digit.repeat(64)}`;
const ARCHIVE = { url: 'https://r.test/v2.tar.gz', checksum: sum('a'), member: 'bin/node', signature: null };

const rollout = {
  upgrade_id: 'v2',
  binary_name: 'node',
  target_version: 'v2',
  artifact_kind: 'file',
  target_binary_url: 'https://r.test/v2',
  target_binary_checksum: sum('b'),
  target_artifact_member: null,
  target_artifact_signature: null,
  artifacts: null,
} as RolloutRow;
const row = {
  node_id: 'n1',
  attempt_direction: 'upgrade',
  target_artifact: null,
  previous_version: 'v1',
  previous_binary_url: 'https://r.test/v1.tar.gz',
  previous_checksum: sum('c'),
  previous_artifact_member: 'bin/node',
  previous_installed_checksum: sum('d'),
} as RolloutNodeRow;

function sent(ofRollout: Partial<RolloutRow>, ofRow: Partial<RolloutNodeRow>, runtime: unknown = null) {
  const bytes = upgradePayload({
    attemptId: 'a',
    operation: 'UPGRADE',
    rollout: { ...rollout, ...ofRollout },
    row: { ...row, ...ofRow },
    runtime: runtime === null ? null : chainRuntimeSchema.parse(runtime),
    stableMs: null,
    configs: [],
    lastWritten: {},
  });
  return decodeUpgradePayload(bytes);
}

describe('the artifact of a command', () => {
  it("is what the attempt was given for its node's platform", () => {
    const { artifact } = sent({ artifacts: { 'linux/arm64': {} } }, { target_artifact: { ...ARCHIVE } });
    expect(artifact).toMatchObject({
      url: ARCHIVE.url,
      checksum: ARCHIVE.checksum,
      member: 'bin/node',
      installedChecksum: '',
    });
  });

  it('of the way back names archive and member, so that the backup is found by what is in it (A6, A12a)', () => {
    const { artifact, targetVersion } = sent({}, { attempt_direction: 'rollback' });
    expect(targetVersion).toBe('v1');
    expect(artifact).toMatchObject({ checksum: sum('c'), member: 'bin/node', installedChecksum: sum('d') });
  });

  it('that the node has already comes with what was installed from it, so that configs alone need no download (E6)', () => {
    const same = { ...ARCHIVE, checksum: sum('c') };
    expect(sent({}, { target_artifact: same }).artifact?.installedChecksum).toBe(sum('d'));
    expect(sent({}, { target_artifact: { ...same, member: 'other' } }).artifact?.installedChecksum).toBe('');
  });

  it('that is a plain file is known by its checksum alone', () => {
    expect(sent({}, { attempt_direction: 'rollback', previous_artifact_member: null }).artifact).toMatchObject({
      checksum: sum('c'),
      member: '',
      installedChecksum: '',
    });
  });
});

describe("what a chain's runtime.yaml demands of a new binary", () => {
  const runtime = {
    runtime: { type: 'systemd' },
    dry_start: { args: ['version'] },
    signatures: { policy: 'required', public_keys: [`RW${'A'.repeat(54)}`] },
    binaries: { other: { dry_start: { args: ['--help'], timeout_seconds: 3 }, signatures: { policy: 'off' } } },
  };

  it('travels with the command', () => {
    const signature = { format: 'minisign' as const, url: 'https://r.test/v2.minisig' };
    const payload = sent({}, { target_artifact: { ...ARCHIVE, signature } }, runtime);
    expect(payload.dryStart).toMatchObject({ args: ['version'], timeoutMs: 10_000 });
    expect(payload.signaturePolicy).toMatchObject({ required: true, publicKeys: runtime.signatures.public_keys });
    expect(payload.artifact?.signature).toMatchObject({ format: SignatureFormat.MINISIGN, url: signature.url });
  });

  it('may differ for one of its binaries', () => {
    const payload = sent({ binary_name: 'other' }, {}, runtime);
    expect(payload.dryStart).toMatchObject({ args: ['--help'], timeoutMs: 3_000 });
    expect(payload.signaturePolicy?.required).toBe(false);
  });

  it('is nothing when it says nothing', () => {
    const payload = sent({}, {});
    expect(payload.dryStart).toBeUndefined();
    expect(payload.signaturePolicy?.required).toBe(false);
  });
});
