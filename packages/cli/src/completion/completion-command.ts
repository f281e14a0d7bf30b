import { Argument, type Command } from 'commander';
import type { Act } from '../command-io.ts';
import { commandWords } from './command-words.ts';
import { completionScript, SHELLS, type Shell } from './completion-scripts.ts';

const AFTER = `
  $ source <(hoodctl completion bash)          add the line to ~/.bashrc
  $ source <(hoodctl completion zsh)           add the line to ~/.zshrc
  $ hoodctl completion fish > ~/.config/fish/completions/hoodctl.fish`;

/** `hoodctl completion` */
export function addCompletionCommand(program: Command, act: Act): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .description('print the completion script of a shell')
    .addHelpText('after', AFTER)
    .action(
      act(async (io, [shell]) => {
        io.context.out.write(completionScript(shell as Shell, commandWords(program)));
      }),
    );
}
