import type { CommandProgress } from '@hoodcloud/contracts/wire/agent-v1';
import { canTransition } from '@hoodcloud/domain/transition';
import { UPGRADE_PHASE_TRANSITIONS, type UpgradePhase } from '@hoodcloud/domain/upgrade-phase';
import { MAX_STEP_NAME } from '@hoodcloud/domain/vendor-hook';
import type { Database, Db } from '../db/database.ts';
import { appendEvents, type NewEvent } from '../events/append-event.ts';
import type { Logger } from '../feature.ts';
import { lockPhases, type OpenCommand, type PendingProgress, writePhases, writeProgress } from './progress-rows.ts';
import { storableText } from './storable-json.ts';

/** Phases an agent may report; the others tell what the control plane finds out (validation, the end). */
const AGENT_PHASES: readonly UpgradePhase[] = ['PREPARING', 'STOPPED', 'MUTATING', 'STARTING', 'ROLLBACKING'];

/**
 * Whether the table leads from one phase to the other, if need be over phases in between: a stream that was cut may have
 * swallowed one, but no attempt ever goes back.
 */
export function isLaterPhase(from: UpgradePhase, to: UpgradePhase): boolean {
  if (canTransition(UPGRADE_PHASE_TRANSITIONS, from, to)) return true;
  return UPGRADE_PHASE_TRANSITIONS[from].some((next) => isLaterPhase(next, to));
}

/** Gathers progress and writes the newest of each command in one statement a tick (B4a). */
export class ProgressBuffer {
  readonly #db: Database;
  readonly #log: Logger;
  #pending = new Map<string, PendingProgress>();

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  add(nodeId: string, progress: CommandProgress): void {
    const pending = this.#pending.get(progress.commandId) ?? { nodeId, latest: progress, phases: [] };
    pending.latest = progress;
    const phase = AGENT_PHASES.find((one) => one === progress.phase);
    if (phase && pending.phases.at(-1)?.phase !== phase) {
      pending.phases.push({ phase, actionName: progress.actionName });
    }
    this.#pending.set(progress.commandId, pending);
  }

  has(commandId: string): boolean {
    return this.#pending.has(commandId);
  }

  /** Writes what was gathered. Progress is for people: when the database is away it is dropped, the next one tells more. */
  async flush(): Promise<void> {
    if (this.#pending.size === 0) return;
    const batch = this.#pending;
    this.#pending = new Map();
    try {
      await this.#db.transaction().execute(async (tx) => {
        const written = await writeProgress(tx, batch);
        const told = written.filter(({ id }) => (batch.get(id)?.phases.length ?? 0) > 0);
        if (told.length > 0) await this.#enterPhases(tx, told, batch);
      });
    } catch (error) {
      this.#log.warn({ err: error, commands: batch.size }, 'progress could not be stored');
    }
  }

  /** Carries the phases of all into their rows and the history: a few statements, however many there are. */
  async #enterPhases(
    tx: Db,
    commands: readonly OpenCommand[],
    batch: ReadonlyMap<string, PendingProgress>,
  ): Promise<void> {
    const before = await lockPhases(tx, commands);
    const steps = commands.flatMap((command) => {
      const phase = before.get(command.rolloutNodeId);
      if (phase === undefined) return [];
      const taken = this.#stepsOf(command, phase, batch.get(command.id)?.phases ?? []);
      before.set(command.rolloutNodeId, taken.at(-1)?.to ?? phase); // a node may have two commands in one batch
      return taken;
    });
    if (steps.length === 0) return;
    await writePhases(tx, new Map(steps.map(({ command, to }) => [command.rolloutNodeId, to])));
    await appendEvents(tx, steps.map(phaseEvent));
  }

  /** The steps from a phase that may be taken, in their order. */
  #stepsOf(command: OpenCommand, before: UpgradePhase | null, phases: PendingProgress['phases']): PhaseStep[] {
    let from = before;
    const steps: PhaseStep[] = [];
    for (const { phase: to, actionName } of phases) {
      if (from === to) continue;
      if (from !== null && !isLaterPhase(from, to)) {
        this.#log.warn({ command_id: command.id, from, to }, 'a phase that can not follow was ignored');
        continue;
      }
      steps.push({ command, from, to, actionName });
      from = to;
    }
    return steps;
  }
}

interface PhaseStep {
  readonly command: OpenCommand;
  readonly from: UpgradePhase | null;
  readonly to: UpgradePhase;
  readonly actionName: string;
}

function phaseEvent({ command, from, to, actionName }: PhaseStep): NewEvent<'node_upgrade_phase_changed'> {
  return {
    kind: 'node_upgrade_phase_changed',
    subjectType: 'node',
    subjectId: command.nodeId,
    rolloutId: command.rolloutId,
    nodeId: command.nodeId,
    actor: 'system:gateway',
    data: { from, to, phase: to, command_id: command.id, action_name: storableText(actionName, MAX_STEP_NAME) },
  };
}
