import type { Command } from 'commander';

/** What may follow a path of commands. */
export interface CommandWords {
  /** Names of the commands so far, `''` at the root, `rollout status` below. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly string[];
  /** What may be an argument here, when only certain words may. */
  readonly values: readonly string[];
  /** What may follow an option, when only certain words may. */
  readonly optionValues: readonly { readonly option: string; readonly values: readonly string[] }[];
}

/** The words of the whole command tree, parents before children; global options come with every path. */
export function commandWords(program: Command): CommandWords[] {
  const everywhere = longOptions(program);
  const visit = (command: Command, path: string): CommandWords[] => {
    const own = path === '' ? [] : longOptions(command);
    const commands = command.commands.map((child) => ({ name: child.name(), description: child.description() }));
    const values = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
    const optionValues = [...new Set([...command.options, ...program.options])].flatMap(({ long, argChoices }) =>
      long && argChoices ? [{ option: long, values: argChoices }] : [],
    );
    const words = { path, commands, options: [...own, ...everywhere, '--help'], values, optionValues };
    return [words, ...command.commands.flatMap((child) => visit(child, `${path} ${child.name()}`.trim()))];
  };
  return visit(program, '');
}

function longOptions(command: Command): string[] {
  return command.options.flatMap(({ long }) => (long ? [long] : []));
}
