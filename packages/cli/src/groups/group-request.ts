import { readFile } from 'node:fs/promises';
import { FileFormatError, parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import { type CreateRolloutGroupInput, createRolloutGroupSchema } from '@hoodcloud/contracts/http/rollout-groups';
import { FAILURE_POLICIES, type FailurePolicy } from '@hoodcloud/domain/rollout-group-status';
import { ROLLOUT_STRATEGIES, type RolloutStrategyName } from '@hoodcloud/domain/rollout-strategy-name';
import { type Command, Option } from 'commander';
import { parse } from 'yaml';
import { UsageError } from '../cli-error.ts';
import { duration, wholeNumber } from '../rollouts/rollout-request.ts';

/** What `group plan` and `group create` take; flags win over the file. */
export interface GroupFlags {
  readonly file?: string;
  readonly chain?: string;
  readonly type?: string;
  readonly policy?: FailurePolicy;
  readonly strategy?: RolloutStrategyName;
  readonly component?: readonly string[];
  readonly batchSize?: number;
  readonly healthWait?: number;
  readonly gateTimeout?: number;
}

/** Adds the options that describe a group. */
export function withGroupOptions(command: Command): Command {
  return command
    .option('-f, --file <file>', 'a YAML file with the fields of POST /api/v1/rollout-groups; flags win over it')
    .option('--chain <id>', 'chain_profile_id')
    .option('--type <type>', 'node_type')
    .addOption(
      new Option('--policy <name>', 'what happens when a component fails; there is no default').choices(
        FAILURE_POLICIES,
      ),
    )
    .addOption(new Option('--strategy <name>', 'how nodes follow one another').choices(ROLLOUT_STRATEGIES))
    .option('--component <spec...>', 'in their order: BINARY=VERSION@UPGRADE, where UPGRADE names the manifest')
    .option('--batch-size <n>', 'nodes at a time', wholeNumber)
    .option('--health-wait <duration>', 'how long a node is watched after its upgrade, e.g. 90s', duration)
    .option('--gate-timeout <duration>', 'how long the next component waits for healthy nodes, e.g. 30m', duration);
}

/**
 * The request that file and flags describe.
 * @throws UsageError when the file is wrong, naming file, line and column, or when something needed is missing
 */
export async function groupRequest(flags: GroupFlags): Promise<CreateRolloutGroupInput> {
  const fromFile = flags.file === undefined ? {} : await readGroupFile(flags.file);
  const request = { ...fromFile, ...fromFlags(flags) };
  const missing = [
    ['chain_profile_id', '--chain'],
    ['node_type', '--type'],
    ['strategy', '--strategy'],
    ['component_order', '--component'],
  ].filter(([field]) => !(String(field) in request));
  if (missing.length === 0) return request as CreateRolloutGroupInput;
  throw new UsageError(`The group needs ${missing.map(([, flag]) => flag).join(', ')}.`, {
    next: 'hoodctl group create --help',
  });
}

function fromFlags(flags: GroupFlags): Partial<CreateRolloutGroupInput> {
  const components = flags.component?.map(component);
  const fields = {
    chain_profile_id: flags.chain,
    node_type: flags.type,
    failure_policy: flags.policy,
    strategy: flags.strategy,
    batch_size: flags.batchSize,
    health_wait_ms: flags.healthWait,
    gate_timeout_ms: flags.gateTimeout,
    component_order: components?.map(({ binary_name, upgrade_id }) => ({ binary_name, upgrade_id })),
    desired_versions:
      components && Object.fromEntries(components.map(({ binary_name, version }) => [binary_name, version])),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** `geth=v1.14.0@v1.14.0-fork`. */
function component(text: string): { binary_name: string; version: string; upgrade_id: string } {
  const [, binary_name, version, upgrade_id] = /^([^=@]+)=([^=@]+)@([^=@]+)$/.exec(text) ?? [];
  if (binary_name && version && upgrade_id) return { binary_name, version, upgrade_id };
  throw new UsageError(`"${text}" is no component: write BINARY=VERSION@UPGRADE, e.g. geth=v1.14.0@v1.14.0-fork.`, {
    next: 'hoodctl group create --help',
  });
}

async function readGroupFile(file: string): Promise<Partial<CreateRolloutGroupInput>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} can't be read: ${error.message}`);
  });
  try {
    parseYamlFile(file, text, createRolloutGroupSchema.partial());
    return parse(text) as Partial<CreateRolloutGroupInput>; // as written: the defaults are the server's to add
  } catch (error) {
    if (!(error instanceof FileFormatError)) throw error;
    throw new UsageError(`${file} isn't a group.`, { details: error.problems });
  }
}
