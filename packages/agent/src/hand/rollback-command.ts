import { toJson } from '@bufbuild/protobuf';
import { type CommandResult, CommandResultSchema, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import type { AgentConfig } from '../agent-config.ts';
import { AgentError } from '../agent-error.ts';
import { type OpenHand, openHand } from './open-hand.ts';
import type { RollbackPreview, Version } from './rollback-preview.ts';
import type { Terminal } from './terminal.ts';

export interface RollbackOptions {
  /** Null: the only component of the host. */
  readonly component: string | null;
  readonly attempt: string | null;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

/**
 * `hoodcloud-agent rollback`: shows what it would do, asks, does it by the local backup. Needs no network.
 * @returns 0 when the earlier version runs again (or it was only a look), 1 when not
 * @throws AgentError what stands in its way; `not_agreed` when nobody agreed
 */
export async function rollbackCommand(config: AgentConfig, options: RollbackOptions, io: Terminal): Promise<number> {
  const binaryName = componentNamed(config, options.component);
  const hand = await openHand(config);
  const preview = await hand.preview(binaryName, options.attempt);
  if (options.dryRun) {
    io.out(options.json ? JSON.stringify(preview, null, 2) : previewText(preview, hand.by));
    return 0;
  }
  if (!options.json) io.out(previewText(preview, hand.by));
  await requireYes(options, io);
  const agreed = { kind: preview.kind, attemptId: preview.attempt_id, named: options.attempt !== null };
  let told = '';
  const result = await hand.rollBack(binaryName, agreed, ({ action, note }) => {
    const line = note === '' ? action : note;
    if (line !== told) io.note(`  … ${line}`);
    told = line;
  });
  const done = didRollBack(preview, result);
  if (options.json) io.out(JSON.stringify(toJson(CommandResultSchema, result, { useProtoFieldName: true }), null, 2));
  else io.out(resultText(preview, result, done));
  return done ? 0 : 1;
}

/** @throws AgentError `unknown_component` */
export function componentNamed(config: AgentConfig, wanted: string | null): string {
  const names = config.components.map(({ binary_name }) => binary_name);
  const [only] = names;
  if (wanted === null && only !== undefined && names.length === 1) return only;
  if (wanted !== null && names.includes(wanted)) return wanted;
  const asked = wanted === null ? 'this host has several components' : `there is no component "${wanted}"`;
  throw new AgentError('unknown_component', `${asked}: name one of ${names.join(', ')}`);
}

async function requireYes({ yes }: RollbackOptions, io: Terminal): Promise<void> {
  if (yes) return;
  const answer = await io.ask('Roll back now? [y/N] ');
  if (answer === null) {
    throw new AgentError(
      'not_agreed',
      'nobody is there to be asked: say --yes to roll back without a question. Nothing was done',
    );
  }
  if (!/^y(es)?$/i.test(answer.trim())) throw new AgentError('not_agreed', 'not rolled back: nothing was done');
}

/** An open attempt is gone back from by being undone; a new attempt that goes back must be completed. */
function didRollBack({ kind }: RollbackPreview, { outcome }: CommandResult): boolean {
  return outcome === (kind === 'take_back' ? Outcome.ROLLED_BACK : Outcome.COMPLETED);
}

function previewText(preview: RollbackPreview, by: OpenHand['by']): string {
  const { binary_name, service, attempt_id, began_at, confirmed, from, to, backup, steps, kind } = preview;
  const what = {
    finish: 'an interrupted rollback by hand, which goes on',
    take_back: 'it did not end, or could not be undone',
    go_back: confirmed ? 'proved healthy since' : 'never proved healthy',
  }[kind];
  const who =
    by === 'agent'
      ? 'The running agent does it.'
      : 'The agent does not run, so this command does it; the control plane hears of it from the next agent that runs.';
  return [
    `Component  ${binary_name} (${service})`,
    `Attempt    ${attempt_id}, of ${began_at}: ${what}`,
    `Installed  ${versionText(from)}`,
    `Goes to    ${versionText(to)}`,
    `Backup     ${backup}`,
    '',
    'What is done, and undone again by itself when the earlier version does not stay up:',
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
    '',
    'Chain data stays as it is: a release that has migrated its database may not let the earlier one start.',
    who,
  ].join('\n');
}

function resultText({ binary_name, to }: RollbackPreview, result: CommandResult, done: boolean): string {
  const down = result.downtimeMs > 0 ? `, down for ${(result.downtimeMs / 1000).toFixed(1)} s` : '';
  if (done && result.leftStopped) return `✓ ${binary_name} is ${versionText(to)} again, left stopped as it was.`;
  if (done) return `✓ ${binary_name} runs ${versionText(to)} again${down}.`;
  if (result.outcome === Outcome.ROLLED_BACK) {
    return `✗ The rollback failed and was undone: ${result.errorMessage}`;
  }
  return `✗ ${result.errorMessage}`;
}

function versionText({ version, checksum }: Version): string {
  if (checksum === null) return 'nothing';
  return `${version ?? 'an unnamed version'} (${checksum.slice(0, 'sha256:'.length + 12)}…)`;
}
