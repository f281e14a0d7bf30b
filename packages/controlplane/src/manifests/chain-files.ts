import {
  type ChainDuty,
  type ChainProfile,
  type ChainRuntime,
  chainProfileSchema,
  chainRuntimeSchema,
} from '@hoodcloud/contracts/files/chain-profile';
import { parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import type { MinisignKey } from '@hoodcloud/contracts/signature/minisign';
import { parseShare, type QuorumRule } from '@hoodcloud/domain/quorum-facts';
import type { TrustRules } from '@hoodcloud/domain/trust/trust-rules';
import { trustRulesOf } from '../rollouts/chain-start.ts';
import {
  assertSafeName,
  type ConfigDirProvider,
  ConfigFileNotFoundError,
  fileStamp,
  listConfigFolder,
  readConfigFile,
} from './config-dir.ts';
import { compileHealthExpression, type HealthExpression, HealthExpressionError } from './health-expression.ts';

const EXPRESSIONS = ['healthy_expression', 'synced_expression', 'ready_expression'] as const;

/** A chain's profile with its expressions ready to be evaluated. */
export interface LoadedProfile {
  readonly profile: ChainProfile;
  readonly healthy: HealthExpression;
  readonly synced: HealthExpression;
  readonly ready: HealthExpression | null;
}

interface Cached {
  readonly stamp: string;
  readonly value: unknown;
}

/**
 * Reads what a chain is: `{ConfigDir}/{chain_profile_id}/profile.yaml`, `runtime.yaml` and `templates/`. A parsed file is
 * kept until the file changes, since heartbeats ask for it all the time.
 */
export class ChainFiles {
  readonly #configDir: ConfigDirProvider;
  readonly #cache = new Map<string, Cached>();

  readonly #manifestKeys: readonly string[] | null;

  /** @param manifestKeys whose signatures manifests need; none: they need no signature */
  constructor(configDir: ConfigDirProvider, manifestKeys: readonly MinisignKey[] = []) {
    this.#configDir = configDir;
    this.#manifestKeys = manifestKeys.length === 0 ? null : manifestKeys.map(({ id }) => id);
  }

  /** @throws ConfigFileNotFoundError, FileFormatError (also for an expression that is no CEL) */
  async profile(chainProfileId: string): Promise<LoadedProfile> {
    assertSafeName('chain_profile_id', chainProfileId);
    const file = `${chainProfileId}/profile.yaml`;
    return this.#parsed(file, (text) => parseProfile(file, text, chainProfileId));
  }

  /** null: the chain says nothing about its runtime. @throws FileFormatError */
  async runtime(chainProfileId: string): Promise<ChainRuntime | null> {
    assertSafeName('chain_profile_id', chainProfileId);
    const file = `${chainProfileId}/runtime.yaml`;
    if ((await fileStamp(this.#configDir(), file)) === null) return null;
    return this.#parsed(file, (text) => parseYamlFile(file, text, chainRuntimeSchema));
  }

  /** Text of a template; its name is one plain file name. @throws ConfigFileNotFoundError, UnsafeNameError */
  async template(chainProfileId: string, name: string): Promise<string> {
    assertSafeName('chain_profile_id', chainProfileId);
    assertSafeName('template', name);
    const file = `${chainProfileId}/templates/${name}`;
    const bytes = await readConfigFile(this.#configDir(), file);
    if (!bytes)
      throw new ConfigFileNotFoundError(file, 'write the template there or correct its name in config_changes');
    return bytes.toString('utf8');
  }

  /** Chains that have a folder with a profile, sorted. */
  async chains(): Promise<string[]> {
    const names = await listConfigFolder(this.#configDir(), '.');
    const stamps = await Promise.all(names.map((name) => fileStamp(this.#configDir(), `${name}/profile.yaml`)));
    return names.filter((_, index) => stamps[index] !== null);
  }

  /** The chain's longest normal pause between blocks; null when it has none or no profile (D4a). */
  async maxBlockIntervalMs(chainProfileId: string): Promise<number | null> {
    const seconds = (await this.#health(chainProfileId))?.max_block_interval_seconds;
    return seconds === undefined ? null : seconds * 1000;
  }

  /** Names of the duties that metrics of its nodes tell; none when it has no profile. */
  async dutyNames(chainProfileId: string): Promise<readonly string[]> {
    try {
      return (await this.profile(chainProfileId)).profile.duties.flatMap(({ name, ask }) => (ask ? [] : [name]));
    } catch (error) {
      if (error instanceof ConfigFileNotFoundError) return [];
      throw error;
    }
  }

  /** `health.height_metric`; null when the chain has no profile, or its profile names none. */
  async heightMetric(chainProfileId: string): Promise<string | null> {
    return (await this.#health(chainProfileId))?.height_metric ?? null;
  }

  /** How long a started process must stay the same (D4c); null when the chain has no profile. */
  async stableMs(chainProfileId: string): Promise<number | null> {
    const seconds = (await this.#health(chainProfileId))?.stable_seconds;
    return seconds === undefined ? null : seconds * 1000;
  }

  /** How much of the chain's voting power may be down; null when its profile says nothing of it. */
  async quorum(chainProfileId: string): Promise<QuorumRule | null> {
    const quorum = (await this.#profile(chainProfileId))?.profile.quorum;
    const limit = quorum && parseShare(quorum.limit);
    return quorum && limit ? { limit, nodeTypes: quorum.node_types } : null;
  }

  /** What the chain demands of a release of the binary; null when the chain has no profile. */
  async trustRules(chainProfileId: string, binaryName: string): Promise<TrustRules | null> {
    const { profile } = (await this.#profile(chainProfileId)) ?? {};
    if (!profile) return null;
    const rules = trustRulesOf(profile, await this.runtime(chainProfileId), binaryName);
    return { ...rules, manifestKeys: this.#manifestKeys };
  }

  async #health(chainProfileId: string): Promise<ChainProfile['health'] | null> {
    return (await this.#profile(chainProfileId))?.profile.health ?? null;
  }

  async #profile(chainProfileId: string): Promise<LoadedProfile | null> {
    try {
      return await this.profile(chainProfileId);
    } catch (error) {
      if (error instanceof ConfigFileNotFoundError) return null;
      throw error;
    }
  }

  async #parsed<Value>(file: string, parse: (text: string) => Value): Promise<Value> {
    const stamp = await fileStamp(this.#configDir(), file);
    if (stamp === null)
      throw new ConfigFileNotFoundError(
        file,
        'every chain needs it; see examples/chains (the folder is HOODCLOUD_CONFIG_DIR; npm start prints it)',
      );
    const cached = this.#cache.get(file);
    if (cached?.stamp === stamp) return cached.value as Value;
    const bytes = await readConfigFile(this.#configDir(), file);
    if (!bytes) throw new ConfigFileNotFoundError(file, 'it vanished while it was read');
    const value = parse(bytes.toString('utf8'));
    this.#cache.set(file, { stamp, value });
    return value;
  }
}

/** Parses a profile and compiles its expressions. @throws FileFormatError naming line and column of what is wrong */
export function parseProfile(file: string, text: string, chainProfileId: string): LoadedProfile {
  const schema = chainProfileSchema.superRefine((profile, context) => {
    if (profile.chain_profile_id !== chainProfileId) {
      const message = `is "${profile.chain_profile_id}" but the folder is named ${chainProfileId}`;
      context.addIssue({ code: 'custom', path: ['chain_profile_id'], message });
    }
    for (const name of EXPRESSIONS) {
      const problem = expressionProblem(profile.health[name]);
      if (problem) context.addIssue({ code: 'custom', path: ['health', name], message: problem });
    }
    for (const { path, message } of dutyProblems(profile.duties)) context.addIssue({ code: 'custom', path, message });
  });
  const profile = parseYamlFile(file, text, schema);
  const { healthy_expression, synced_expression, ready_expression } = profile.health;
  return {
    profile,
    healthy: compileHealthExpression(healthy_expression),
    synced: compileHealthExpression(synced_expression),
    ready: ready_expression === undefined ? null : compileHealthExpression(ready_expression),
  };
}

function dutyProblems(duties: ChainProfile['duties']): { path: (string | number)[]; message: string }[] {
  return duties.flatMap((duty, index) => {
    const at = (field: string, message: string | null) =>
      message === null ? [] : [{ path: ['duties', index, field], message }];
    const twice = duties.findIndex(({ name }) => name === duty.name) < index;
    return [
      ...at('name', twice ? `is the name of another duty: give each its own` : null),
      ...at('free_expression', expressionProblem(duty.free_expression)),
      ...at('wait_seconds_expression', expressionProblem(duty.wait_seconds_expression)),
      ...at('ask', secondQuestion(duties.slice(0, index), duty)),
    ];
  });
}

/** The stop must follow the answer at once: a second question would make the first one's answer old. */
function secondQuestion(before: ChainProfile['duties'], { ask }: ChainDuty): string | null {
  if (!ask) return null;
  const same = before.find(({ ask: other }) => other && meet(other.binaries, ask.binaries));
  return same ? `asks for a component for which ${same.name} asks already: let one program ask both` : null;
}

/** Left out: all. */
function meet(some: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  return !some || !others || some.some((name) => others.includes(name));
}

function expressionProblem(text: string | undefined): string | null {
  if (text === undefined) return null;
  try {
    compileHealthExpression(text);
    return null;
  } catch (error) {
    if (error instanceof HealthExpressionError) return error.message;
    throw error;
  }
}
