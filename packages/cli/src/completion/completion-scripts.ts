import type { CommandWords } from './command-words.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The script that a shell sources; it holds the whole tree, so that a TAB starts no program. */
export function completionScript(shell: Shell, words: readonly CommandWords[]): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](words);
}

/** Follows the words typed so far as far as they are commands, then offers what may come there, or after the option before. */
function bashScript(words: readonly CommandWords[]): string {
  const offer = (offered: string) => `COMPREPLY=($(compgen -W ${quoted(offered)} -- "\${COMP_WORDS[COMP_CWORD]}"))`;
  return `# hoodctl completion for bash: source <(hoodctl completion bash)
_hoodctl() {
  local path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${pathPattern(words)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${afterOptions(words, (offered) => `${offer(offered)}; return`)}
  esac
  case "$path" in
${words.map((at) => `    ${quoted(at.path)}) ${offer(all(at))} ;;`).join('\n')}
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
  case "$path_so_far \${words[CURRENT-1]}" in
${afterOptions(words, (offered) => `compadd -- ${offered}; return`)}
  esac
  case "$path_so_far" in
${words.map((at) => `    ${quoted(at.path)}) compadd -- ${all(at)} ;;`).join('\n')}
  esac
}
compdef _hoodctl hoodctl
`;
}

/** Lines of a \`case\` for the options that certain words may follow, by the path and the option. */
function afterOptions(words: readonly CommandWords[], offer: (offered: string) => string): string {
  const lines = words.flatMap(({ path, optionValues }) =>
    optionValues.map(({ option, values }) => `    ${quoted(`${path} ${option}`)}) ${offer(values.join(' '))} ;;`),
  );
  return lines.join('\n');
}

function fishScript(words: readonly CommandWords[]): string {
  const lines = words.flatMap(({ path, commands, options, values, optionValues }) => {
    const here = quoted(`test "$(__hoodctl_path)" = "${path}"`);
    const choices = new Map(optionValues.map((one) => [one.option, one.values]));
    return [
      ...commands.map(
        ({ name, description }) => `complete -c hoodctl -f -n ${here} -a ${name} -d ${quoted(description)}`,
      ),
      ...values.map((value) => `complete -c hoodctl -f -n ${here} -a ${value}`),
      ...options.map((option) => {
        const after = choices.get(option);
        const only = after ? ` -x -a ${quoted(after.join(' '))}` : '';
        return `complete -c hoodctl -n ${here} -l ${option.slice(2)}${only}`;
      }),
    ];
  });
  return `# hoodctl completion for fish: hoodctl completion fish | source
function __hoodctl_path
    set -l path
    for word in (commandline -opc)[2..-1]
        switch (string join -- ' ' $path $word)
            case ${paths(words).map(quoted).join(' ')}
                set -a path $word
        end
    end
    string join -- ' ' $path
end
${lines.join('\n')}
`;
}

const all = ({ commands, options, values }: CommandWords): string =>
  [...commands.map(({ name }) => name), ...values, ...options].join(' ');
const paths = (words: readonly CommandWords[]): string[] => words.flatMap(({ path }) => (path === '' ? [] : [path]));
const pathPattern = (words: readonly CommandWords[]): string => paths(words).map(quoted).join('|');
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
