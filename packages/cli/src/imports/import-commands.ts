import type { Command } from 'commander';
import type { Act } from '../command-io.ts';
import { checkRegistry } from './check-registry.ts';
import { importCosmosRegistry } from './import-cosmos-registry.ts';
import { importGithubRelease } from './import-github-release.ts';
import { withImportOptions } from './import-options.ts';
import { importUpgradePlan } from './import-upgrade-plan.ts';

const AFTER = `
Each import reads what a project has announced and makes an upgrade manifest of it, every value with its source.
What is wrong with the announcement is named, never guessed over: "✗" stops the import (exit 1, no manifest),
"!" is told. It needs no control plane. Read the manifest before you use it.

  docs/guides/import-a-release.md       which of them to take, and how to read the answer
  docs/reference/import-defects.md      each code, what it means and what to do`;

const REGISTRY_AFTER = `
The file is the chain's versions.json, or its chain.json for the version of now. Many entries have no checksums:
the release's own list helps.

  $ hoodctl import cosmos-registry --chain-registry osmosis/versions.json --name v31 --verify \\
      --chain osmosis --type validator --binary osmosisd --out upgrades/osmosis/v31.yaml
  $ hoodctl import cosmos-registry --chain-registry cosmoshub/versions.json --name v25.1 --checksums SHA256SUMS \\
      --chain cosmoshub --type validator --binary gaiad`;

const CHECK_AFTER = `
Makes no manifest. Exits 1 when an entry can't be imported as it stands.

  $ git clone --depth 1 https://github.com/cosmos/chain-registry
  $ hoodctl import check chain-registry/*/versions.json`;

const PLAN_AFTER = `
FILE is what \`PROGRAM query upgrade plan -o json\` or a proposal says, Cosmovisor's upgrade-info.json, or the text of
"info" alone. Where info is an address, it is followed if it has a ?checksum=. A plan has a name, not a version:
--target-version says which version its binaries are.

  $ gaiad query upgrade plan -o json > plan.json
  $ hoodctl import upgrade-plan --plan plan.json --target-version v25.1.0 \\
      --chain cosmoshub --type validator --binary gaiad --out upgrades/cosmoshub/v25.yaml`;

const RELEASE_AFTER = `
The release is GitHub's own answer, by curl or by gh; which file is for which platform its name must say.

  $ curl -sL https://api.github.com/repos/cometbft/cometbft/releases/tags/v0.38.21 > release.json
  $ hoodctl import github-release --release-json release.json --checksums SHA256SUMS --member cometbft \\
      --chain cometbft --type validator --binary cometbft
  $ hoodctl import github-release --release-json geth.json --asset linux/amd64=geth-linux-amd64-1.17.0.tar.gz …`;

/** `hoodctl import …` */
export function addImportCommands(program: Command, act: Act): void {
  const group = program
    .command('import')
    .description('make a manifest of what a project announced')
    .addHelpText('after', AFTER);
  withImportOptions(group.command('cosmos-registry'))
    .description('import a version of the Cosmos chain registry')
    .requiredOption('--chain-registry <file|url>', 'versions.json or chain.json of the chain')
    .requiredOption('--name <version>', 'name, tag or recommended_version of the entry')
    .addHelpText('after', REGISTRY_AFTER)
    .action(act(importCosmosRegistry));
  group
    .command('check')
    .argument('<file|url...>', 'versions.json or chain.json of chains')
    .description('tell what stands in the way of importing each entry of registry files')
    .addHelpText('after', CHECK_AFTER)
    .action(act(checkRegistry));
  withImportOptions(group.command('upgrade-plan'))
    .description("import a chain's own upgrade plan, by the binaries in its info")
    .requiredOption('--plan <file|url>', 'the plan, a proposal, upgrade-info.json, or info itself')
    .addHelpText('after', PLAN_AFTER)
    .action(act(importUpgradePlan));
  withImportOptions(group.command('github-release'))
    .description('import a release of GitHub, by its list of files')
    .requiredOption('--release-json <file|url>', "the release as GitHub's API answers it, or gh release view --json")
    .option('--asset <platform=name...>', 'which file is for a platform, where several may be', [])
    .addHelpText('after', RELEASE_AFTER)
    .action(act(importGithubRelease));
}
