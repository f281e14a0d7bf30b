import { type Hook, HookPoint } from '@hoodcloud/contracts/wire/agent-v1';
import type { VendorHook } from '@hoodcloud/domain/vendor-hook';
import { AgentError } from '../agent-error.ts';

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
const POINTS: Readonly<Partial<Record<HookPoint, VendorHook['at']>>> = {
  [HookPoint.BEFORE_STOP]: 'before_stop',
  [HookPoint.AFTER_INSTALL]: 'after_install',
  [HookPoint.DUTY]: 'duty',
  [HookPoint.AFTER_HEALTH]: 'after_health',
  [HookPoint.ON_ERROR]: 'on_error',
};

/**
 * Checks the steps of the vendor as they came from the wire. The control plane has checked them too; this host believes
 * nobody.
 * @throws AgentError `invalid_payload` that names the field; nothing was touched then
 */
export function readHooks(hooks: readonly Hook[]): VendorHook[] {
  const names = new Set<string>();
  return hooks.map(({ name, point, command, timeoutMs, undo, repeatable, askAgain }, index) => {
    const field = `hooks[${index}]`;
    const at = POINTS[point];
    if (!NAME.test(name)) throw invalid(`${field}.name`, `"${name.slice(0, 80)}" isn't safe as the name of a file`);
    if (names.has(name)) throw invalid(`${field}.name`, `${name} is there twice`);
    names.add(name);
    if (at === undefined) throw invalid(`${field}.point`, `${point} is none that this agent knows: upgrade the agent`);
    if (timeoutMs === 0) throw invalid(`${field}.timeout_ms`, 'a step without an end is not run');
    if (!isCommand(command)) throw invalid(`${field}.command`, 'it must begin with {binary} or an absolute path');
    if (undo.length > 0 && !isCommand(undo)) {
      throw invalid(`${field}.undo`, 'it must begin with {binary} or an absolute path');
    }
    if (at === 'on_error' && undo.length > 0) throw invalid(`${field}.undo`, 'it runs on the way back itself');
    if ((at === 'duty') !== (askAgain !== undefined)) {
      throw invalid(`${field}.ask_again`, 'it belongs to a question about a duty, and to nothing else');
    }
    return {
      name,
      at,
      command,
      timeoutMs,
      undo: undo.length === 0 ? null : undo,
      repeatable,
      askAgain: askAgain ? { exitCodes: askAgain.exitCodes, longestWaitMs: askAgain.longestWaitMs } : null,
    };
  });
}

function isCommand([program = '']: readonly string[]): boolean {
  return program === '{binary}' || program.startsWith('/');
}

function invalid(field: string, why: string): AgentError {
  return new AgentError('invalid_payload', `the command is refused, ${field}: ${why}`);
}
