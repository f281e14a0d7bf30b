import { minisignKey } from '@hoodcloud/contracts/signature/minisign';
import type { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import type { NodeDuty } from '@hoodcloud/domain/node-duty';
import type { RolloutSnapshot } from '@hoodcloud/domain/rollout-snapshot';
import { answerOf } from '@hoodcloud/domain/testing/why-case';
import { WHY_CASES } from '@hoodcloud/domain/testing/why-cases';
import { WAITING_REASONS, type WaitingReasonCode } from '@hoodcloud/domain/why/waiting-reasons';
import { manifestSigner } from '@hoodcloud/testkit/manifest-signer';
import { type PlacedCase, placeWhyCase } from '@hoodcloud/testkit/why-case-rows';

export const WAITING_CODES = Object.keys(WAITING_REASONS) as WaitingReasonCode[];

const key = minisignKey(manifestSigner().publicKey);
/** Whose signatures the manifests of the cases need: a publisher's whom none of them has. */
export const CASE_KEYS = key === null ? [] : [key];

export interface ReadableCase extends PlacedCase {
  /** What must be read in every place. */
  readonly sentences: readonly string[];
}

/** Puts the state that has the answer `code` into the API's database and says what must be read there. */
export async function placeCase(api: ApiFixture, code: WaitingReasonCode, suffix = ''): Promise<ReadableCase> {
  const now = Date.now();
  const it = WHY_CASES[code](now);
  const chain = `why-${code.replaceAll('_', '-')}${suffix}`;
  if (it.kind === 'rollout') await writeFiles(api, chain, it.snapshot);
  const placed = await placeWhyCase(api.database.db, chain, it, now);
  return { ...placed, sentences: placed.sentencesOf(answerOf(it, now)) };
}

/** The files of the chain, where the case rests on them. */
async function writeFiles(
  api: ApiFixture,
  chain: string,
  { chain: facts, trust, quorum, fleet }: RolloutSnapshot,
): Promise<void> {
  const { maxBlockIntervalMs: interval } = facts;
  const duties = [...fleet.values()].flatMap((node) => node.duties ?? []);
  if (interval === null && !trust && quorum === null && duties.length === 0) return;
  const {
    minimumAgeMs = null,
    allowedOrigins = null,
    signatureRequired = false,
    twoPersons = false,
  } = trust?.rules ?? {};
  const trusted = {
    ...(minimumAgeMs !== null && { minimum_release_age_hours: minimumAgeMs / 3_600_000 }),
    ...(allowedOrigins !== null && { allowed_origins: allowedOrigins }),
    ...(twoPersons && { approvals: 'two_persons' }),
  };
  const health = interval === null ? '' : `  max_block_interval_seconds: ${interval / 1000}\n`;
  const guard = quorum === null ? '' : 'quorum: {}\n';
  const rest = `${health}trust: ${JSON.stringify(trusted)}\n${guard}${dutiesOf(duties)}`;
  await api.writeConfig(`${chain}/profile.yaml`, `${profileOf(chain)}${rest}`);
  if (!signatureRequired) return;
  await api.writeConfig(`${chain}/runtime.yaml`, 'runtime: { type: systemd }\nsignatures: { policy: required }\n');
}

/** Nodes are judged by it when their heartbeats come; the case has what was judged. */
function dutiesOf(duties: readonly NodeDuty[]): string {
  const of = duties.map(({ name }) => `  - { name: ${name}, free_expression: metrics.slots_to_next_duty > 32.0 }\n`);
  return of.length === 0 ? '' : `duties:\n${of.join('')}`;
}

function profileOf(chain: string): string {
  return `chain_profile_id: ${chain}
node_types: [validator]
binaries:
  - name: cometbft
health:
  healthy_expression: metrics.up == 1
  synced_expression: metrics.syncing == 0
`;
}
