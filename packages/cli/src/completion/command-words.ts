import type { Command } from 'commander';

/** What may follow a path of commands. */
export interface CommandWords {
  /** Names of the commands so far, `''` at the root, `rollout status` below. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly string[];
}

/** The words of the whole command tree, parents before children; global options come with every path. */
export function commandWords(program: Command): CommandWords[] {
  const everywhere = longOptions(program);
  const visit = (command: Command, path: string): CommandWords[] => {
    const own = path === '' ? [] : longOptions(command);
    const commands = command.commands.map((child) => ({ name: child.name(), description: child.description() }));
    const words = { path, commands, options: [...own, ...everywhere, '--help'] };
    return [words, ...command.commands.flatMap((child) => visit(child, `${path} ${child.name()}`.trim()))];
  };
  return visit(program, '');
}

function longOptions(command: Command): string[] {
  return command.options.flatMap(({ long }) => (long ? [long] : []));
}
