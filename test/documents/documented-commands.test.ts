import { buildProgram } from '@hoodcloud/cli/program';
import { expect, it } from 'vitest';
import { blocksOf, pages, proseOf } from './documents.ts';

type Command = ReturnType<typeof buildProgram>;

/** Written by the program itself. */
const GENERATED = ['docs/reference/hoodctl.md'];

const program = buildProgram(
  {
    env: {},
    out: { write: () => undefined },
    err: { write: () => undefined },
    fetch,
    now: () => new Date(),
    interrupted: new AbortController().signal,
  },
  () => undefined,
);

/** Words of a command line up to what ends it for hoodctl: a comment, a pipe, the next command, or what the page leaves out. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const word of line.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? []) {
    if (/^(#|\||&&?|;|>|…|\.\.\.|\\)/.test(word)) break;
    words.push(word.replace(/^['"]|['"]$/g, ''));
  }
  return words;
}

/** Every `hoodctl …` that a page shows: lines of its blocks, continued ones in one, and words in code of its prose. */
function commandsOf(text: string): string[] {
  const lines = blocksOf(text)
    .filter(({ language }) => ['sh', 'text', ''].includes(language))
    .flatMap((block) => block.text.replace(/\\\n\s*/g, ' ').split('\n'))
    .flatMap((line) => line.match(/(?:^|[|&(] ?|^\S*[$#] )(hoodctl [a-z-].*)/)?.[1] ?? []);
  const inProse = [...proseOf(text).matchAll(/`(hoodctl [^`]+)`/g)].map(([, command = '']) => command);
  return [...lines, ...inProse];
}

/** What is wrong with a command line, or null. */
function whyWrong(line: string): string | null {
  let command: Command = program;
  const words = wordsOf(line).slice(1);
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (word === '--') return null;
    if (/^--?[a-z]/i.test(word)) {
      const option = optionOf(command, word);
      if (option === undefined) return `"${fullName(command)}" takes no ${word}`;
      if ((option.required || option.optional) && !word.includes('=')) index += 1;
    } else if (command.commands.length > 0) {
      const next = command.commands.find((one) => one.name() === word);
      if (next === undefined) return `"${fullName(command)}" has no command ${word}`;
      command = next;
    }
  }
  return null;
}

function optionOf(command: Command, word: string) {
  if (/^--(help|version)$/.test(word)) return { required: false, optional: false };
  const name = word.split('=')[0];
  return [...command.options, ...program.options].find(({ long, short }) => name === long || name === short);
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

const documented = pages()
  .filter(({ path }) => !GENERATED.includes(path))
  .map(({ path, text }) => [path, commandsOf(text)] as const)
  .filter(([, commands]) => commands.length > 0);

it.each(documented)('every hoodctl command in %s is one that the program has', (_, commands) => {
  expect(commands.map((line) => [line, whyWrong(line)]).filter(([, why]) => why !== null)).toEqual([]);
});

it('an unknown verb and an unknown flag are found, in a block, after a pipe and in prose', () => {
  const page = [
    '```sh',
    '$ hoodctl rollout begin x',
    'hoodctl node list --sorted  # by name',
    'echo x | hoodctl rollout pause latest \\',
    '  --why "so"',
    '```',
    'Say `hoodctl incident close`.',
  ].join('\n');
  expect(commandsOf(page).map(whyWrong)).toEqual([
    '"hoodctl rollout" has no command begin',
    '"hoodctl node list" takes no --sorted',
    '"hoodctl rollout pause" takes no --why',
    '"hoodctl incident" has no command close',
  ]);
});
