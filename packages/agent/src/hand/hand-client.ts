import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fromJson } from '@bufbuild/protobuf';
import { type CommandResult, CommandResultSchema } from '@hoodcloud/contracts/wire/agent-v1';
import type { AgentErrorCode } from '@hoodcloud/domain/failure-class';
import { AgentError } from '../agent-error.ts';
import type { AgreedRollback, OnHandProgress } from './hand.ts';
import { HAND_SOCKET, type HandAnswer, type HandRequest } from './hand-messages.ts';
import type { RollbackPreview } from './rollback-preview.ts';

/** The running agent's hand, reached through its socket. */
export class HandClient {
  readonly #path: string;

  constructor(stateDir: string) {
    this.#path = join(stateDir, HAND_SOCKET);
  }

  async preview(binaryName: string, attemptId: string | null): Promise<RollbackPreview> {
    const answer = await this.#ask({ do: 'preview', binaryName, attemptId }, () => undefined);
    if ('preview' in answer) return answer.preview;
    throw unexpected(answer);
  }

  async rollBack(binaryName: string, agreed: AgreedRollback, onProgress: OnHandProgress): Promise<CommandResult> {
    const answer = await this.#ask({ do: 'roll_back', binaryName, agreed }, onProgress);
    if ('result' in answer) return fromJson(CommandResultSchema, answer.result);
    throw unexpected(answer);
  }

  /** @throws AgentError what the agent refused, or `agent_silent` | `agent_gone` */
  #ask(request: HandRequest, onProgress: OnHandProgress): Promise<HandAnswer> {
    return new Promise((resolve, reject) => {
      const socket: Socket = connect(this.#path);
      let connected = false;
      socket.once('connect', () => {
        connected = true;
        socket.write(`${JSON.stringify(request)}\n`);
      });
      socket.once('error', (cause) => {
        const why = `the agent runs but doesn't answer on ${this.#path}: stop it, then this command does the work itself`;
        if (!connected) reject(new AgentError('agent_silent', why, { cause }));
      });
      socket.once('close', () => reject(agentGone()));
      createInterface({ input: socket }).on('line', (line) => {
        const answer = JSON.parse(line) as HandAnswer;
        if ('progress' in answer) return onProgress(answer.progress);
        if ('error' in answer)
          reject(new AgentError(answer.error.code as AgentErrorCode, answer.error.message)); // by the agent of the same installation;
        else resolve(answer);
        socket.end();
      });
    });
  }
}

function agentGone(): AgentError {
  return new AgentError(
    'agent_gone',
    'the agent ended while it worked: what was begun is finished by its next start, or by this command run again',
  );
}

function unexpected(answer: HandAnswer): AgentError {
  return new AgentError('agent_silent', `the agent answered something else: ${Object.keys(answer).join(', ')}`);
}
