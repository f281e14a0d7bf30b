import type { FieldError } from '@hoodcloud/contracts/http/problem';
import type { CreateRolloutGroupRequest } from '@hoodcloud/contracts/http/rollout-groups';
import { type CreateRolloutRequest, createRolloutSchema } from '@hoodcloud/contracts/http/rollout-requests';
import { checkGroupRules } from '@hoodcloud/domain/rollout-rules/group-rules';
import type { Db } from '../db/database.ts';
import {
  type ChainOwner,
  ownerOf,
  type PreparedRollout,
  prepareRollout,
  type RolloutSources,
} from '../rollouts/prepare-rollout.ts';

export interface PreparedComponent {
  readonly componentIndex: number;
  readonly binaryName: string;
  readonly prepared: PreparedRollout;
}

/** Everything that creating a group and its dry run need to know. */
export interface PreparedGroup {
  readonly components: readonly PreparedComponent[];
  readonly activeOwner: ChainOwner | null;
  /** Every rule that is broken, of the group and of each component, and everything else that is wrong. */
  readonly violations: readonly FieldError[];
}

type ComponentRequest = CreateRolloutGroupRequest['component_order'][number];

/**
 * Looks at a wanted group from all sides without changing anything.
 * @param id the id it would have; it seeds the choice of canaries in a plan
 * @throws ConfigFileNotFoundError, FileFormatError, TemplateError when a file is missing or wrong
 */
export async function prepareGroup(
  db: Db,
  sources: RolloutSources,
  request: CreateRolloutGroupRequest,
  id: string,
): Promise<PreparedGroup> {
  const violations = brokenGroupRules(request);
  const components: PreparedComponent[] = [];
  for (const [position, component] of request.component_order.entries()) {
    const prepared = await prepareRollout(db, sources, componentRequest(request, component), id);
    components.push({ componentIndex: position, binaryName: component.binary_name, prepared });
    const field = `component_order.${position}`;
    // Rule 5 is the group's, told once.
    const own = prepared.violations.filter(({ rule }) => rule !== 5);
    violations.push(...own.map((found) => ({ ...found, field: `${field}.${found.field}` })));
    violations.push(...versionMismatch(request, component, prepared, field));
  }
  const activeOwner = await ownerOf(db, request.chain_profile_id);
  if (activeOwner) violations.push(chainTaken(activeOwner));
  return { components, activeOwner, violations };
}

function brokenGroupRules(request: CreateRolloutGroupRequest): FieldError[] {
  return checkGroupRules({
    componentOrder: request.component_order.map((component, position) => ({
      binaryName: component.binary_name,
      componentIndex: component.component_index ?? position,
    })),
    desiredVersions: request.desired_versions,
    failurePolicy: request.failure_policy ?? null,
  }).map(({ rule, code, field, message }) => ({ rule, code, field, message }));
}

function chainTaken({ type, id }: ChainOwner): FieldError {
  const message = `${type === 'rollout' ? 'Rollout' : 'Rollout group'} ${id} is active on this chain: let it end or cancel it first.`;
  return { rule: 5, code: 'active_rollout', field: 'chain_profile_id', message };
}

/** The component as a rollout: its own settings, then the group's, then the defaults of `POST /rollouts`. */
function componentRequest(group: CreateRolloutGroupRequest, component: ComponentRequest): CreateRolloutRequest {
  const { failure_policy: _, desired_versions: desired, component_order: __, gate_timeout_ms: ___, ...shared } = group;
  const { component_index: ____, ...own } = component;
  const version = desired[component.binary_name];
  // In auto mode the manifest says the version, and `versionMismatch` compares.
  const target = component.upgrade_id === undefined && version !== undefined ? { target_version: version } : {};
  return createRolloutSchema.parse({ ...shared, ...given(own), ...target });
}

function given<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

/** Rule 9: a manifest must bring just the version that is desired. */
function versionMismatch(
  group: CreateRolloutGroupRequest,
  component: ComponentRequest,
  { draft }: PreparedRollout,
  field: string,
): FieldError[] {
  const desired = group.desired_versions[component.binary_name];
  const target = draft.upgrade.target_version;
  if (component.upgrade_id === undefined || desired === undefined || target === null || desired === target) return [];
  const message = `${component.upgrade_id} brings ${component.binary_name} ${target}, but desired_versions wants ${desired}.`;
  return [{ rule: 9, code: 'desired_version_mismatch', field: `${field}.upgrade_id`, message }];
}
