import { readFile } from 'node:fs/promises';
import { FileFormatError, parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import { type CreateRolloutInput, createRolloutSchema } from '@hoodcloud/contracts/http/rollout-requests';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parse } from 'yaml';
import type { ApiClient } from '../api/api-client.ts';
import { resolveNodeId } from '../api/resolve-id.ts';
import { UsageError } from '../cli-error.ts';
import { parseDuration } from '../output/time.ts';

/** What `plan` and `create` take; flags win over the file. */
export interface RequestFlags {
  readonly file?: string;
  readonly chain?: string;
  readonly type?: string;
  readonly upgrade?: string;
  readonly strategy?: CreateRolloutInput['strategy'];
  readonly batchSize?: number;
  readonly canarySize?: number;
  readonly threshold?: number;
  readonly maxFailures?: number;
  readonly maxInFlight?: number;
  readonly healthWait?: number;
  readonly sourceVersion?: string;
  readonly node?: readonly string[];
  readonly offline?: 'skip' | 'wait';
  readonly drift?: 'fail' | 'overwrite';
  readonly forceContinue?: boolean;
  readonly skipValidation?: boolean;
  readonly acknowledgeStateRisk?: boolean;
}

/** Adds the options that describe a rollout. */
export function withRequestOptions(command: Command): Command {
  return command
    .option('-f, --file <file>', 'a YAML file with the fields of POST /api/v1/rollouts; flags win over it')
    .option('--chain <id>', 'chain_profile_id')
    .option('--type <type>', 'node_type')
    .option('--upgrade <id>', 'upgrade_id of the manifest (auto mode)')
    .addOption(
      new Option('--strategy <name>', 'how nodes follow one another').choices(['rolling', 'canary', 'all_at_once']),
    )
    .option('--batch-size <n>', 'nodes at a time', wholeNumber)
    .option('--canary-size <n>', 'nodes of the first, watched batch (canary)', wholeNumber)
    .option('--threshold <share>', 'share of attempted nodes that may fail, 0..1', share)
    .option('--max-failures <n>', 'nodes that may fail, whatever the share', wholeNumber)
    .option('--max-in-flight <n>', 'nodes in flight at once, whatever the batch', wholeNumber)
    .option('--health-wait <duration>', 'how long a node is watched after its upgrade, e.g. 90s', duration)
    .option('--source-version <version>', 'the version that the nodes must have now')
    .option('--node <name...>', 'only these nodes, by name or id')
    .addOption(
      new Option('--offline <policy>', 'what to do with a node that is offline at its turn').choices(['skip', 'wait']),
    )
    .addOption(
      new Option('--drift <policy>', 'what to do with config files edited on the host').choices(['fail', 'overwrite']),
    )
    .option('--force-continue', 'ignore the failure threshold')
    .option('--skip-validation', 'do not wait for health after an upgrade')
    .option('--acknowledge-state-risk', 'needed for migration_type breaking: chain state may not go back');
}

/**
 * The request that file and flags describe.
 * @throws UsageError when the file is wrong, naming file, line and column, or when something needed is missing
 */
export async function rolloutRequest(api: ApiClient, flags: RequestFlags): Promise<CreateRolloutInput> {
  const fromFile = flags.file === undefined ? {} : await readRequestFile(flags.file);
  const nodeIds = flags.node && (await Promise.all(flags.node.map((name) => resolveNodeId(api, name))));
  const request = { ...fromFile, ...fromFlags(flags), ...(nodeIds && { node_ids: nodeIds }) };
  const missing = [
    ['chain_profile_id', '--chain'],
    ['node_type', '--type'],
    ['strategy', '--strategy'],
  ].filter(([field]) => !(String(field) in request));
  if (missing.length === 0) return request as CreateRolloutInput;
  throw new UsageError(`The rollout needs ${missing.map(([, flag]) => flag).join(', ')}.`, {
    next: 'hoodctl rollout create --help',
  });
}

/** Fields that flags name; what is left out stays the server's default. */
function fromFlags(flags: RequestFlags): Partial<CreateRolloutInput> {
  const fields: { [Field in keyof CreateRolloutInput]?: CreateRolloutInput[Field] | undefined } = {
    chain_profile_id: flags.chain,
    node_type: flags.type,
    upgrade_id: flags.upgrade,
    strategy: flags.strategy,
    batch_size: flags.batchSize,
    canary_size: flags.canarySize,
    failure_threshold: flags.threshold,
    max_failures: flags.maxFailures,
    max_in_flight: flags.maxInFlight,
    health_wait_ms: flags.healthWait,
    source_version: flags.sourceVersion,
    offline_policy: flags.offline,
    drift_policy: flags.drift,
    force_continue: flags.forceContinue,
    skip_validation: flags.skipValidation,
    acknowledge_state_risk: flags.acknowledgeStateRisk,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

async function readRequestFile(file: string): Promise<Partial<CreateRolloutInput>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} can't be read: ${error.message}`);
  });
  try {
    parseYamlFile(file, text, createRolloutSchema.partial());
    return parse(text) as Partial<CreateRolloutInput>; // as written: the defaults are the server's to add
  } catch (error) {
    if (!(error instanceof FileFormatError)) throw error;
    throw new UsageError(`${file} isn't a rollout.`, { details: error.problems });
  }
}

/** A whole number from the command line. */
export function wholeNumber(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

function share(text: string): number {
  const value = Number(text);
  if (text !== '' && value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('It must be between 0 and 1, e.g. 0.1 for a tenth.');
}

/** @returns milliseconds */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null) return ms;
  throw new InvalidArgumentError('It must be a number with its unit: 500ms, 90s, 5m or 2h.');
}
