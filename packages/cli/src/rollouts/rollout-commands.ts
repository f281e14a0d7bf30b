import type { Command } from 'commander';
import type { Act } from '../command-io.ts';
import { addOverrideCommands } from '../policies/override-commands.ts';
import { addControlCommands } from './control-commands.ts';
import { addCreateCommands } from './create-commands.ts';
import { addReadCommands } from './read-commands.ts';

const AFTER = `
ID is a rollout's id, the beginning of it, or "latest".

A first rollout:
  $ hoodctl rollout plan   --chain CHAIN --type TYPE --upgrade UPGRADE --strategy canary
  $ hoodctl rollout create --chain CHAIN --type TYPE --upgrade UPGRADE --strategy canary
  $ hoodctl rollout start latest --watch
When it pauses itself:
  $ hoodctl rollout nodes latest                       which node, and why
  $ hoodctl rollout logs latest NODE                   the last log lines of the version that failed
  $ hoodctl rollout retry latest NODE                  try that node again; or cancel, or rollback`;

/** `hoodctl rollout …` */
export function addRolloutCommands(program: Command, act: Act): void {
  const rollout = program
    .command('rollout')
    .description('plan, start, watch and steer rollouts')
    .addHelpText('after', AFTER);
  addCreateCommands(rollout, act);
  addReadCommands(rollout, act);
  addControlCommands(rollout, act);
  addOverrideCommands(rollout, act);
}
