import { fromJson } from '@bufbuild/protobuf';
import {
  ArtifactKind,
  type Command,
  CommandType,
  DriftPolicy,
  type DryStart,
  LinkPolicy,
  Operation,
  SignatureFormat,
  type UpgradePayload,
  UpgradePayloadSchema,
} from '@hoodcloud/contracts/wire/agent-v1';
import { MAX_CONFIG_BYTES, MAX_CONFIG_FILES } from '@hoodcloud/contracts/wire/message-limits';
import type { AgentOperation } from '@hoodcloud/domain/agent-operation';
import type { VendorHook } from '@hoodcloud/domain/vendor-hook';
import { AgentError } from '../agent-error.ts';
import { checksumOf } from '../host/file-hash.ts';
import type { WantedArtifact } from '../runtime/runtime-adapter.ts';
import type { ActionBudgets, ConfigFileToWrite } from './action.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { readHooks } from './read-hooks.ts';

/** A config file as a command asks for it. */
export interface RequestedConfigFile extends Omit<ConfigFileToWrite, 'restoreFrom'> {
  /** Attempt as whose backup has the file it is put back; null: `content` is written. */
  readonly restoreAttemptId: string | null;
}

/** A command that passed every check that needs no look at the host. */
export interface UpgradeRequest {
  readonly attemptId: string;
  readonly operation: AgentOperation;
  readonly upgradeId: string;
  readonly binaryName: string;
  readonly targetVersion: string;
  readonly artifactKind: 'file' | 'image';
  readonly artifact: WantedArtifact;
  readonly configFiles: readonly RequestedConfigFile[];
  readonly driftPolicy: 'fail' | 'overwrite';
  /** The chain allows what was edited on the host to be shown, not only where (C12). */
  readonly showDrift: boolean;
  readonly budgets: ActionBudgets;
  /** Steps of the vendor, in their order. */
  readonly hooks: readonly VendorHook[];
}

/** The specification's time-outs of the actions, and ten seconds of life before a start counts (D4c). */
export const DEFAULT_BUDGETS: ActionBudgets = {
  backupMs: 60_000,
  acquireMs: 300_000,
  verifyMs: 30_000,
  stopMs: 60_000,
  installMs: 30_000,
  configsMs: 30_000,
  reloadMs: 10_000,
  startMs: 30_000,
  stableMs: 10_000,
  toleratedRestarts: 0,
};

const ATTEMPT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const RELEASE_NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/;
const CHECKSUM = /^sha256:[0-9a-f]{64}$/;
const MAX_DRY_START_ARGS = 16;
const DEFAULT_DRY_START_MS = 10_000;

const OPERATIONS: Readonly<Partial<Record<Operation, AgentOperation>>> = {
  [Operation.UPGRADE]: 'UPGRADE',
  [Operation.COMPENSATE]: 'COMPENSATE',
  [Operation.CONFIRM]: 'CONFIRM',
};

/**
 * Checks a command as it came from the wire.
 * @throws AgentError `invalid_payload` that names the field; nothing was touched then
 */
export function readCommand(command: Command): UpgradeRequest {
  if (command.type !== CommandType.UPGRADE && command.type !== CommandType.UPGRADE_WITH_HOOKS) {
    throw invalid(
      'type',
      `this agent knows only COMMAND_TYPE_UPGRADE (${CommandType.UPGRADE}) and the one with hooks (${CommandType.UPGRADE_WITH_HOOKS}), not ${command.type}`,
    );
  }
  if (command.upgrade === undefined) throw invalid('upgrade', 'the payload is missing');
  return readPayload(command.upgrade);
}

/** The UPGRADE that an attempt's record keeps: it was checked when it came. */
export function recordedRequest({ payload }: AttemptRecord): UpgradeRequest {
  return readPayload(fromJson(UpgradePayloadSchema, payload));
}

/** @throws AgentError `invalid_payload` that names the field */
export function readPayload(payload: UpgradePayload): UpgradeRequest {
  const operation = OPERATIONS[payload.operation];
  if (operation === undefined) throw invalid('operation', `${payload.operation} is none that this agent knows`);
  if (!ATTEMPT_ID.test(payload.attemptId)) {
    throw invalid('attempt_id', `"${payload.attemptId.slice(0, 80)}" isn't safe as the name of a folder`);
  }
  if (payload.binaryName === '') throw invalid('binary_name', 'it is empty');
  return {
    attemptId: payload.attemptId,
    operation,
    upgradeId: payload.upgradeId,
    binaryName: payload.binaryName,
    targetVersion: payload.targetVersion,
    artifactKind: payload.artifact?.kind === ArtifactKind.IMAGE ? 'image' : 'file',
    artifact: { ...readArtifact(payload), ...readRelease(payload) },
    configFiles: readConfigFiles(payload),
    driftPolicy: payload.driftPolicy === DriftPolicy.OVERWRITE ? 'overwrite' : 'fail',
    showDrift: payload.showDrift,
    budgets: readBudgets(payload),
    hooks: readHooks(payload.hooks),
  };
}

function readArtifact({ artifact, binaryName, signaturePolicy, dryStart }: UpgradePayload): WantedArtifact {
  if (artifact === undefined) throw invalid('artifact', 'it is missing');
  if (artifact.kind === ArtifactKind.UNSPECIFIED) throw invalid('artifact.kind', 'it must be FILE or IMAGE');
  if (!CHECKSUM.test(artifact.checksum)) {
    throw invalid(
      'artifact.checksum',
      `"${artifact.checksum.slice(0, 80)}" isn't sha256: and 64 lower-case hex digits`,
    );
  }
  if (artifact.installedChecksum !== '' && !CHECKSUM.test(artifact.installedChecksum)) {
    throw invalid('artifact.installed_checksum', "it isn't sha256: and 64 lower-case hex digits");
  }
  const { url, checksum, member, signature, installedChecksum } = artifact;
  return {
    name: binaryName,
    url,
    checksum,
    member: member === '' ? null : readMember(member),
    ...(installedChecksum !== '' && { installedChecksum }),
    ...(signature && { signature: { format: readSignatureFormat(signature.format), url: signature.url } }),
    ...(signaturePolicy?.required && { signedBy: signaturePolicy.publicKeys }),
    ...(dryStart && { dryStart: readDryStart(dryStart) }),
  };
}

/** The control plane has checked it too; this host believes nobody. */
function readMember(member: string): string {
  if (!/[\\\0]/.test(member) && member.split('/').every((part) => !['', '.', '..'].includes(part))) return member;
  throw invalid('artifact.member', `"${member.slice(0, 80)}" is no name of a file inside an archive`);
}

function readSignatureFormat(format: SignatureFormat): 'minisign' | 'cosign_bundle' {
  if (format === SignatureFormat.MINISIGN) return 'minisign';
  if (format === SignatureFormat.COSIGN_BUNDLE) return 'cosign_bundle';
  throw invalid('artifact.signature.format', `${format} is none that this agent knows`);
}

function readDryStart({ args, timeoutMs }: DryStart): NonNullable<WantedArtifact['dryStart']> {
  if (args.length > MAX_DRY_START_ARGS) {
    throw invalid('dry_start.args', `${args.length} arguments are more than ${MAX_DRY_START_ARGS}`);
  }
  return { args, timeoutMs: timeoutMs || DEFAULT_DRY_START_MS };
}

/** Where a replaced link is to lead to; nothing when links are followed. */
function readRelease({ linkPolicy, releaseName, targetVersion }: UpgradePayload): Pick<WantedArtifact, 'release'> {
  if (linkPolicy !== LinkPolicy.REPLACE) return {};
  // a way back must not fail for a version that is no name of a folder
  if (releaseName === '') return { release: { name: safeName(targetVersion), anyWithContent: true } };
  if (RELEASE_NAME.test(releaseName)) return { release: { name: releaseName, anyWithContent: false } };
  const shown = releaseName.slice(0, 80);
  throw invalid('release_name', `"${shown}" isn't safe as the name of a folder: give the manifest a release`);
}

function safeName(version: string): string {
  return `v${version.replace(/^v/, '').replaceAll(/[^A-Za-z0-9._+-]/g, '-')}`.slice(0, 100);
}

function readConfigFiles({ configFiles }: UpgradePayload): RequestedConfigFile[] {
  if (configFiles.length > MAX_CONFIG_FILES) {
    throw invalid('config_files', `${configFiles.length} files are more than ${MAX_CONFIG_FILES}`);
  }
  const total = configFiles.reduce((bytes, { content }) => bytes + content.length, 0);
  if (total > MAX_CONFIG_BYTES) {
    throw invalid('config_files', `they have ${total} bytes together, ${MAX_CONFIG_BYTES} are the most`);
  }
  const paths = new Set<string>();
  return configFiles.map(({ path, content, lastWrittenChecksum, restoreAttemptId }, index) => {
    const field = `config_files[${index}]`;
    if (paths.has(path)) throw invalid(`${field}.path`, `${path} is there twice`);
    paths.add(path);
    if (lastWrittenChecksum !== '' && !CHECKSUM.test(lastWrittenChecksum)) {
      throw invalid(`${field}.last_written_checksum`, "it isn't sha256: and 64 lower-case hex digits");
    }
    if (restoreAttemptId !== '' && (content.length > 0 || !ATTEMPT_ID.test(restoreAttemptId))) {
      throw invalid(`${field}.restore_attempt_id`, 'it must name an attempt, and there must be no content');
    }
    return {
      path,
      content,
      checksum: checksumOf(content),
      lastWrittenChecksum: lastWrittenChecksum === '' ? null : lastWrittenChecksum,
      restoreAttemptId: restoreAttemptId === '' ? null : restoreAttemptId,
    };
  });
}

function readBudgets({ budgets }: UpgradePayload): ActionBudgets {
  const given = (name: keyof ActionBudgets) => budgets?.[name] || DEFAULT_BUDGETS[name];
  const names = Object.keys(DEFAULT_BUDGETS) as (keyof ActionBudgets)[];
  const read = Object.fromEntries(names.map((name) => [name, given(name)])) as Record<keyof ActionBudgets, number>;
  if (read.stableMs >= read.startMs) {
    throw invalid('budgets.stable_ms', `${read.stableMs} ms must be less than start_ms, ${read.startMs} ms`);
  }
  return read;
}

function invalid(field: string, why: string): AgentError {
  return new AgentError('invalid_payload', `the command is refused, ${field}: ${why}`);
}
