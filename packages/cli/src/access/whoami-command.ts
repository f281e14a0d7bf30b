import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { IdentityView } from '@hoodcloud/contracts/http/identity';
import type { Command } from 'commander';
import type { Act } from '../command-io.ts';
import { renderPairs } from '../output/table.ts';

/** `hoodctl whoami` */
export function addWhoamiCommand(program: Command, act: Act): void {
  program
    .command('whoami')
    .description('show whom the control plane takes you for, and what you may do')
    .action(
      act(async (io) => {
        const identity = await (await io.api()).get<IdentityView>(PATHS.identity);
        io.answer(identity, ({ actor, scopes }) =>
          renderPairs([
            ['You', actor],
            ['May', scopes.join(', ')],
          ]),
        );
      }),
    );
}
