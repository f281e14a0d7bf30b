import type { CommandWords } from './command-words.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The script that a shell sources; it holds the whole tree, so that a TAB starts no program. */
export function completionScript(shell: Shell, words: readonly CommandWords[]): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](words);
}

/** Follows the words typed so far as far as they are commands, then offers what may come there. */
function bashScript(words: readonly CommandWords[]): string {
  return `# hoodctl completion for bash: source <(hoodctl completion bash)
_hoodctl() {
  local path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${pathPattern(words)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${words.map((at) => `    ${quoted(at.path)}) COMPREPLY=($(compgen -W ${quoted(all(at))} -- "\${COMP_WORDS[COMP_CWORD]}")) ;;`).join('\n')}
  esac
}
complete -o default -F _hoodctl hoodctl
`;
}

function zshScript(words: readonly CommandWords[]): string {
  return `#compdef hoodctl
# hoodctl completion for zsh: source <(hoodctl completion zsh)
_hoodctl() {
  local path_so_far="" word
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    case "\${path_so_far:+$path_so_far }$word" in
      ${pathPattern(words)}) path_so_far="\${path_so_far:+$path_so_far }$word" ;;
    esac
  done
  case "$path_so_far" in
${words.map((at) => `    ${quoted(at.path)}) compadd -- ${all(at)} ;;`).join('\n')}
  esac
}
compdef _hoodctl hoodctl
`;
}

function fishScript(words: readonly CommandWords[]): string {
  const lines = words.flatMap(({ path, commands, options }) => {
    const here = fishCondition(path, commands);
    return [
      ...commands.map(
        ({ name, description }) => `complete -c hoodctl -f -n ${quoted(here)} -a ${name} -d ${quoted(description)}`,
      ),
      ...options.map((option) => `complete -c hoodctl -n ${quoted(here)} -l ${option.slice(2)}`),
    ];
  });
  return `# hoodctl completion for fish: hoodctl completion fish | source\n${lines.join('\n')}\n`;
}

/** True when every command of the path was typed and none that goes deeper. */
function fishCondition(path: string, commands: CommandWords['commands']): string {
  const typed = path === '' ? [] : path.split(' ').map((name) => `__fish_seen_subcommand_from ${name}`);
  const deeper = commands.map(({ name }) => name).join(' ');
  const not = deeper === '' ? [] : [`not __fish_seen_subcommand_from ${deeper}`];
  return [...typed, ...not].join('; and ');
}

const all = ({ commands, options }: CommandWords): string =>
  [...commands.map(({ name }) => name), ...options].join(' ');
const pathPattern = (words: readonly CommandWords[]): string =>
  words.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join('|');
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
