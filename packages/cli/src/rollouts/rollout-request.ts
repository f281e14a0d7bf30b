import { readFile } from 'node:fs/promises';
import { FileFormatError, parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import { type CreateRolloutInput, createRolloutSchema } from '@hoodcloud/contracts/http/rollout-requests';
import { isoTime } from '@hoodcloud/domain/iso-time';
import { LATE_NODE_POLICIES, type LateNodePolicy } from '@hoodcloud/domain/late-nodes';
import { ACTIVATION_MODES } from '@hoodcloud/domain/staging';
import type { WeeklyWindow } from '@hoodcloud/domain/weekly-window';
import { parseWeeklyWindow } from '@hoodcloud/domain/weekly-window-text';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parse } from 'yaml';
import type { ApiClient } from '../api/api-client.ts';
import { resolveNodeId } from '../api/resolve-id.ts';
import { UsageError } from '../cli-error.ts';
import { parseDuration } from '../output/time.ts';
import { borne, labels, namedBatch, ramp } from './order-flags.ts';

/** What `plan` and `create` take; flags win over the file. */
export interface RequestFlags {
  readonly file?: string;
  readonly chain?: string;
  readonly type?: string;
  readonly upgrade?: string;
  readonly strategy?: CreateRolloutInput['strategy'];
  readonly batchSize?: number;
  readonly canarySize?: number;
  readonly canary?: readonly string[];
  readonly canaryLabel?: Record<string, string>;
  readonly batch?: CreateRolloutInput['batches'];
  readonly ramp?: CreateRolloutInput['ramp'];
  readonly threshold?: number;
  readonly maxFailures?: number;
  readonly bear?: NonNullable<CreateRolloutInput['failure_classes']>;
  readonly maxInFlight?: number;
  readonly healthWait?: number;
  readonly sourceVersion?: string;
  readonly node?: readonly string[];
  readonly offline?: 'skip' | 'wait';
  readonly retryFailed?: boolean;
  readonly late?: LateNodePolicy;
  readonly atHeight?: number;
  readonly startAt?: string;
  readonly window?: readonly WeeklyWindow[];
  readonly stage?: boolean;
  readonly activate?: NonNullable<CreateRolloutInput['activation']>;
  readonly drift?: 'fail' | 'overwrite';
  readonly forceContinue?: boolean;
  readonly skipValidation?: boolean;
  readonly acknowledgeStateRisk?: boolean;
  readonly acknowledgeQuorumShare?: string;
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
    .option('--canary <name...>', 'exactly these canaries, by name or id')
    .option('--canary-label <name=value>', 'draw the canaries from nodes with this label; may be repeated', labels)
    .option('--batch <spec>', 'a batch: zone=eu, zone=eu:2 or zone=eu,tier=1:50%; may be repeated', namedBatch)
    .option('--ramp <start:factor:max>', 'batches that grow, e.g. 1:2:50', ramp)
    .option('--threshold <share>', 'share of attempted nodes that may fail, 0..1', share)
    .option('--max-failures <n>', 'nodes that may fail, whatever the share', wholeNumber)
    .option(
      '--bear <class=n>',
      'tell failures apart, and bear so many: artifact=0, infrastructure=3, state=0; may be repeated',
      borne,
    )
    .option('--max-in-flight <n>', 'nodes in flight at once, whatever the batch', wholeNumber)
    .option('--health-wait <duration>', 'how long a node is watched after its upgrade, e.g. 90s', duration)
    .option('--source-version <version>', 'the version that the nodes must have now')
    .option('--node <name...>', 'only these nodes, by name or id')
    .addOption(
      new Option('--offline <policy>', 'what to do with a node that is offline at its turn').choices(['skip', 'wait']),
    )
    .addOption(
      new Option(
        '--late <policy>',
        'nodes that join or come back while it runs: ignored, or taken after all others',
      ).choices(LATE_NODE_POLICIES),
    )
    .option('--retry-failed', 'offer the version again to nodes that failed it in an earlier rollout')
    .option('--stage', 'every node downloads, verifies and checks ahead, all at once, before the first is stopped')
    .addOption(
      new Option(
        '--activate <by>',
        'who swaps at the height: the rollout, or each agent by itself (height, plan)',
      ).choices(ACTIVATION_MODES),
    )
    .option('--at-height <height>', 'no node starts before the chain is at this height', wholeNumber)
    .option('--start-at <time>', 'no node starts before this time, e.g. 2026-12-05T22:00:00+01:00', pointInTime)
    .option(
      '--window <window>',
      'starts nodes only in this window, beside those that cover them, e.g. "mon-fri 22:00-04:00 Europe/Berlin"; of several one is enough',
      weeklyWindows,
    )
    .addOption(
      new Option('--drift <policy>', 'what to do with config files edited on the host').choices(['fail', 'overwrite']),
    )
    .option('--force-continue', 'ignore the failure threshold')
    .option('--skip-validation', 'do not wait for health after an upgrade')
    .option('--acknowledge-state-risk', 'needed for migration_type breaking: chain state may not go back')
    .option(
      '--acknowledge-quorum-share <share>',
      'needed for all_at_once over the limit of the quorum: the figure that the refusal names',
    );
}

/**
 * The request that file and flags describe.
 * @throws UsageError when the file is wrong, naming file, line and column, or when something needed is missing
 */
export async function rolloutRequest(api: ApiClient, flags: RequestFlags): Promise<CreateRolloutInput> {
  const fromFile = flags.file === undefined ? {} : await readRequestFile(flags.file);
  const nodeIds = flags.node && (await Promise.all(flags.node.map((name) => resolveNodeId(api, name))));
  const canaryIds = flags.canary && (await Promise.all(flags.canary.map((name) => resolveNodeId(api, name))));
  const request = {
    ...fromFile,
    ...fromFlags(flags),
    ...(nodeIds && { node_ids: nodeIds }),
    ...(canaryIds && { canary_node_ids: canaryIds }),
  };
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
    canary_selector: flags.canaryLabel && { labels: flags.canaryLabel },
    batches: flags.batch,
    ramp: flags.ramp,
    failure_threshold: flags.threshold,
    max_failures: flags.maxFailures,
    failure_classes: flags.bear,
    max_in_flight: flags.maxInFlight,
    health_wait_ms: flags.healthWait,
    source_version: flags.sourceVersion,
    offline_policy: flags.offline,
    retry_failed: flags.retryFailed,
    late_nodes: flags.late,
    start_at_height: flags.atHeight,
    start_at: flags.startAt,
    windows: flags.window?.map(toRequest),
    stage: flags.stage,
    activation: flags.activate,
    drift_policy: flags.drift,
    force_continue: flags.forceContinue,
    skip_validation: flags.skipValidation,
    acknowledge_state_risk: flags.acknowledgeStateRisk,
    acknowledge_quorum_share: flags.acknowledgeQuorumShare,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

async function readRequestFile(file: string): Promise<Partial<CreateRolloutInput>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} can't be read: ${error.message}`, { next: 'hoodctl rollout create --help' });
  });
  try {
    parseYamlFile(file, text, createRolloutSchema.partial());
    return parse(text) as Partial<CreateRolloutInput>; // as written: the defaults are the server's to add
  } catch (error) {
    if (!(error instanceof FileFormatError)) throw error;
    throw new UsageError(`${file} isn't a rollout.`, {
      details: error.problems,
      next: 'mend those fields; what there is: hoodctl rollout create --help',
    });
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

/** A time with its zone. @returns RFC 3339 in UTC */
function pointInTime(text: string): string {
  const ms = /T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return isoTime(ms);
  throw new InvalidArgumentError('It must be a time with its zone: 2026-12-05T22:00:00+01:00 or 2026-12-05T21:00:00Z.');
}

function weeklyWindows(text: string, before: readonly WeeklyWindow[] = []): WeeklyWindow[] {
  const window = parseWeeklyWindow(text);
  if (window !== null) return [...before, window];
  throw new InvalidArgumentError('It must be days, times and a time zone: "mon-fri 22:00-04:00 Europe/Berlin".');
}

function toRequest({ time_zone, weekly }: WeeklyWindow): NonNullable<CreateRolloutInput['windows']>[number] {
  return { time_zone, weekly: weekly.map(({ days, from, to }) => ({ days: [...days], from, to })) };
}

/** @returns milliseconds */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null) return ms;
  throw new InvalidArgumentError('It must be a number with its unit: 500ms, 90s, 5m or 2h.');
}
