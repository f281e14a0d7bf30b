import { chainProfileSchema, chainRuntimeSchema } from '@hoodcloud/contracts/files/chain-profile';
import { vendorHooksSchema } from '@hoodcloud/contracts/files/vendor-hook';
import { SignatureFormat } from '@hoodcloud/contracts/wire/agent-v1';
import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import { AGENT_BINARY_NAME } from '@hoodcloud/domain/agent-binary';
import { describe, expect, it } from 'vitest';
import { dutyQuestions, hookProblems, hooksOf } from './rollout-hooks.ts';
import type { RolloutNodeRow, RolloutRow } from './rollout-row.ts';
import { commandBudgetMs, upgradePayload } from './upgrade-command.ts';

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
  hooks: [],
} as unknown as RolloutRow;
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

function sent(
  ofRollout: Partial<RolloutRow>,
  ofRow: Partial<RolloutNodeRow>,
  runtime: unknown = null,
  stableMs: number | null = null,
) {
  const bytes = upgradePayload({
    attemptId: 'a',
    operation: 'UPGRADE',
    rollout: { ...rollout, ...ofRollout },
    row: { ...row, ...ofRow },
    runtime: runtime === null ? null : chainRuntimeSchema.parse(runtime),
    stableMs,
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

describe('steps of the vendor', () => {
  const manifest = vendorHooksSchema.parse([
    { name: 'compact', at: 'after_install', command: ['{binary}', 'db', 'compact'], undo: 'none', timeout_seconds: 90 },
  ]);
  const chain = chainRuntimeSchema.parse({
    runtime: { type: 'systemd' },
    hooks: [{ name: 'every', at: 'before_stop', command: ['/bin/true'], undo: ['/bin/false'] }],
    binaries: { geth: { hooks: [{ name: 'own', at: 'after_install', command: ['{binary}'], undo: 'none' }] } },
  });
  const hooks = hooksOf(chain, 'geth', manifest);

  it('are the chain’s, the binary’s and the manifest’s, in that order, and travel on the way up alone', () => {
    const stored = { hooks: hooks as unknown as RolloutRow['hooks'] };
    const travelled = sent(stored, {}).hooks;
    expect(travelled.map(({ name }) => name)).toEqual(['every', 'own', 'compact']);
    expect(travelled[2]).toMatchObject({ command: ['{binary}', 'db', 'compact'], undo: [], timeoutMs: 90_000 });
    expect(sent(stored, { attempt_direction: 'rollback' }).hooks).toEqual([]);
  });

  it('lengthen the deadline of their command, and twice what can be undone (B5)', () => {
    const [every, , compact] = hooks;
    const grown = (own: typeof hooks) => commandBudgetMs('UPGRADE', chain, own) - commandBudgetMs('UPGRADE', chain, []);
    expect(grown(compact ? [compact] : [])).toBe(100_000);
    expect(grown(every ? [every] : [])).toBe(2 * 70_000);
  });

  it('that nothing undoes need an acknowledgement, by the same word as a breaking migration', () => {
    const codes = (acknowledged: boolean) =>
      hookProblems(hooks, { acknowledged }).map(({ code, field }) => [field, code]);
    expect(codes(false)).toEqual([['acknowledge_state_risk', 'hook_undo_not_acknowledged']]);
    expect(codes(true)).toEqual([]);
  });

  it('are no lines for a shell, and have one name each', () => {
    const hook = { name: 'a', at: 'before_stop', command: ['/bin/true'], undo: 'none' };
    expect(vendorHooksSchema.safeParse([{ ...hook, command: ['geth db compact'] }]).success).toBe(false);
    expect(vendorHooksSchema.safeParse([hook, hook]).success).toBe(false);
    const onError = { ...hook, at: 'on_error' };
    expect(vendorHooksSchema.safeParse([onError]).success).toBe(true);
    const [issue] = vendorHooksSchema.safeParse([{ ...onError, undo: ['/bin/true'] }]).error?.issues ?? [];
    expect(issue).toMatchObject({ path: [0, 'undo'], message: expect.stringContaining('must be none at on_error') });
  });
});

describe('questions about duties', () => {
  const { duties } = chainProfileSchema.parse({
    chain_profile_id: 'testchain',
    node_types: ['validator'],
    binaries: [{ name: 'geth' }],
    health: { healthy_expression: 'true', synced_expression: 'true' },
    duties: [
      { name: 'proposer', free_expression: 'metrics.slots > 32.0' },
      { name: 'window', ask: { command: ['{binary}', 'wait'], binaries: ['geth'] } },
    ],
  });
  const hooks = dutyQuestions({ duties }, 'geth');

  it('come from the profile, for the components that they are about, and never for the agent', () => {
    expect(hooks.map(({ name, at }) => `${at}:${name}`)).toEqual(['duty:window']);
    expect(dutyQuestions({ duties }, 'lighthouse')).toEqual([]);
    const forAll = duties.map((duty) => ({ ...duty, ask: duty.ask && { ...duty.ask, binaries: undefined } }));
    expect(dutyQuestions({ duties: forAll }, 'lighthouse')).toHaveLength(1);
    expect(dutyQuestions({ duties: forAll }, AGENT_BINARY_NAME)).toEqual([]);
  });

  it('travel with what asks again, and lengthen the deadline by the longest wait', () => {
    const [travelled] = sent({ hooks: hooks as unknown as RolloutRow['hooks'] }, {}).hooks;
    expect(travelled).toMatchObject({ name: 'window', timeoutMs: 30_000, undo: [], repeatable: true });
    expect(travelled?.askAgain).toMatchObject({ exitCodes: [75], longestWaitMs: 600_000 });
    expect(commandBudgetMs('UPGRADE', null, hooks) - commandBudgetMs('UPGRADE', null, [])).toBe(640_000);
  });

  it('change nothing, so that nobody has to acknowledge that nothing undoes them', () => {
    expect(hookProblems(hooks, { acknowledged: false })).toEqual([]);
  });
});

it('a chain that asks for no stable time gets none, and one that says nothing the default of the agent (A15)', () => {
  expect(sent({}, {}, null, 0).budgets?.stableMs).toBe(1);
  expect(sent({}, {}, null, 7_000).budgets?.stableMs).toBe(7_000);
  expect(sent({}, {}).budgets?.stableMs).toBe(0);
});
