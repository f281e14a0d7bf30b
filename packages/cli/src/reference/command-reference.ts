import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { buildProgram } from '../program.ts';

const SILENT: CliContext = {
  env: {},
  out: { write: () => undefined },
  err: { write: () => undefined },
  fetch,
  now: () => new Date(),
  interrupted: new AbortController().signal,
};

const HEAD = `# hoodctl

Written by \`npm run generate\` from the program itself; don't edit it.
`;

/** The Markdown reference of every command: what \`--help\` says, in one page. */
export function commandReference(): string {
  const program = buildProgram(SILENT, () => undefined);
  return `${[HEAD, ...sections(program, 2)].join('\n').trimEnd()}\n`;
}

function sections(command: Command, level: number): string[] {
  const name = fullName(command);
  const own = `${'#'.repeat(level)} ${name}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`;
  return [own, ...command.commands.flatMap((child) => sections(child, Math.min(level + 1, 4)))];
}

/** With the examples: they are written when help is shown, not part of `helpInformation()`. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.configureHelp({ helpWidth: 100 });
  command.outputHelp();
  return text.trimEnd();
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}
