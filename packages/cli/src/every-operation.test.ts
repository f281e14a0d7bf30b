import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runWith, type SentRequest } from './testing/cli-run.ts';
import { ROLLOUT_ID as ID, planView, rolloutView, savedPlanView } from './testing/sample-views.ts';

const POLICIES = fileURLToPath(new URL('./apply/testing/policies.yaml', import.meta.url));

/** By `operationId`: the words after `hoodctl` that carry it out. */
const COMMANDS: Readonly<Record<string, string>> = {
  createRollout: 'rollout create --chain=demo --type=full --strategy=canary',
  planRollout: 'rollout plan --chain=demo --type=full --strategy=canary',
  saveRolloutPlan: 'rollout plan --chain=demo --type=full --strategy=canary --save',
  listRolloutPlans: 'plan list',
  getRolloutPlan: `plan show ${ID}`,
  startRolloutPlan: `plan start ${ID}`,
  listRollouts: 'rollout list',
  getRollout: `rollout status ${ID}`,
  listRolloutNodes: `rollout nodes ${ID}`,
  getRolloutBatches: `rollout batches ${ID}`,
  getRolloutNodeLogs: `rollout logs ${ID} ${ID}`,
  listRolloutEvents: `rollout events ${ID}`,
  startRollout: `rollout start ${ID}`,
  pauseRollout: `rollout pause ${ID}`,
  resumeRollout: `rollout resume ${ID}`,
  cancelRollout: `rollout cancel ${ID}`,
  forceRollout: `rollout force ${ID}`,
  approveRollout: `rollout approve ${ID}`,
  rollbackRollout: `rollout rollback ${ID}`,
  retryRolloutNode: `rollout retry ${ID} ${ID}`,
  skipRolloutNode: `rollout skip ${ID} ${ID}`,
  listRolloutOverrides: `rollout overrides ${ID}`,
  overrideRule: `rollout override ${ID} freeze/payout --reason urgent`,
  listPolicies: 'policy list',
  getDisruptionBudget: 'policy show disruption_budget/one-a-zone',
  getMaintenanceWindow: 'policy show maintenance_window/nights',
  getFreeze: 'policy show freeze/payout',
  deleteDisruptionBudget: 'policy delete disruption_budget/one-a-zone',
  deleteMaintenanceWindow: 'policy delete maintenance_window/nights',
  deleteFreeze: 'policy delete freeze/payout',
  putDisruptionBudget: `apply -f ${POLICIES}`,
  putMaintenanceWindow: `apply -f ${POLICIES}`,
  putFreeze: `apply -f ${POLICIES}`,
  createRolloutGroup:
    'group create --chain=demo --type=full --strategy=rolling --policy=manual --component a=v1@u1 b=v1@u1',
  listRolloutGroups: 'group list',
  getRolloutGroup: `group show ${ID}`,
  getRolloutGroupStatus: `group status ${ID}`,
  listRolloutGroupEvents: `group events ${ID}`,
  startRolloutGroup: `group start ${ID}`,
  pauseRolloutGroup: `group pause ${ID}`,
  resumeRolloutGroup: `group resume ${ID}`,
  cancelRolloutGroup: `group cancel ${ID}`,
  rollbackRolloutGroup: `group rollback ${ID}`,
  skipRolloutGroupComponent: `group skip ${ID}`,
  listNodes: 'node list',
  getNode: `node show ${ID}`,
  createNode: 'node add validator-1 --chain demo --type full',
  createJoinToken: `node join-token ${ID}`,
  nameVersion: `node name-version ${ID} noded v1`,
  holdNode: `node hold ${ID} --reason disk --for 48h`,
  pinNode: `node pin ${ID} --reason audit`,
  releaseNode: `node release ${ID}`,
  getFleetSummary: 'node summary',
  listNodeUpgrades: `node history ${ID}`,
  listApprovals: 'approval list',
  listAudit: 'audit',
  getIdentity: 'whoami',
  listChains: 'chain list',
  getChain: 'chain show demo',
  listManifests: 'manifest list demo',
  listIncidents: 'incident list',
  getIncident: `incident show ${ID}`,
  acknowledgeIncident: `incident ack ${ID}`,
  resolveIncident: `incident resolve ${ID}`,
  listEvents: 'events',
  listNotificationChannels: 'notification list',
  testNotificationChannel: 'notification test on-call',
  listNotificationDeliveries: 'notification dead-letters',
  getNotificationDelivery: 'notification test on-call',
  retryDeadLetters: 'notification retry --channel on-call',
  retryDeadLetter: `notification retry ${ID}`,
  listApiKeys: 'api-key list',
  createApiKey: 'api-key create on-call',
  revokeApiKey: 'api-key revoke on-call',
  listScopeGrants: 'grant list',
  createScopeGrant: 'grant add alice --scope read',
  revokeScopeGrant: 'grant revoke alice --scope read',
};

type Operations = Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
const document = readFileSync(new URL('../../contracts/openapi.json', import.meta.url), 'utf8');
const { paths } = JSON.parse(document) as { paths: Operations };
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({ operationId, method: method.toUpperCase(), path })),
);

/** One of everything that a list is searched for. */
const ITEM = { id: ID, name: 'on-call', subject: 'alice', scope: 'read', scopes: [], revoked_at: null, status: 'dead' };

/** Answers at the HTTP edge with which a command goes on to its last request. */
function answer({ method, path }: SentRequest): { body: unknown } {
  const [bare = ''] = path.split('?', 1);
  if (/events$/.test(bare)) return { body: { items: [], next_after: 0 } };
  if (/rollout-plans(\/[^/]+)?$/.test(bare))
    return { body: method === 'GET' && bare.endsWith('plans') ? { items: [], next_cursor: null } : savedPlanView() };
  if (/policies$/.test(bare)) return { body: { items: [], next_cursor: null } };
  if (/overrides$/.test(bare)) return { body: { items: [], holding: [] } };
  if (/plan$/.test(bare)) return { body: planView() };
  if (/(test|deliveries.*retry)$/.test(bare)) return { body: { ...ITEM, status: 'due' } };
  if (/deliveries\/[^/]+$/.test(bare)) return { body: { ...ITEM, status: 'delivered' } };
  if (/summary$/.test(bare)) return { body: { chains: [], states: [], zones: [], versions: [] } };
  if (/(audit|upgrades)$/.test(bare)) return { body: { items: [], next_cursor: null } };
  if (/(batches|manifests|chains|approvals)$/.test(bare)) return { body: { items: [] } };
  if (/chains\/demo$/.test(bare)) return { body: { ...ITEM, problems: [], binaries: [], node_types: [] } };
  if (/logs$/.test(bare)) return { body: { node_name: 'a', lines: [] } };
  if (method === 'GET' && /(nodes|incidents|rollouts|groups|channels|deliveries|api-keys|grants)$/.test(bare))
    return { body: { items: [ITEM], next_cursor: null } };
  return { body: { ...ITEM, ...rolloutView({ status: 'canceled', direction: 'rollback' }) } };
}

it.each(operations)('hoodctl has a command for $operationId', async ({ operationId, method, path }) => {
  const words = COMMANDS[operationId];
  if (words === undefined) throw new Error(`no command carries out ${operationId}`);
  const { requests, err } = await runWith(answer, ...words.split(' '), '--output', 'json');
  const sent = requests.map((request) => `${request.method} ${request.path.split('?', 1)[0]}`);
  const wanted = new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  expect(
    sent.filter((line) => wanted.test(line)),
    `${words}: ${sent.join(', ')} ${err}`,
  ).not.toEqual([]);
});

it('names no command for an operation that is gone', () => {
  const ids = operations.map(({ operationId }) => operationId);
  expect(Object.keys(COMMANDS).filter((id) => !ids.includes(id))).toEqual([]);
});
