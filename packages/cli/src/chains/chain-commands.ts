import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { ChainView } from '@hoodcloud/contracts/http/chains';
import { cooldownText, originsText, startApprovalText } from '@hoodcloud/contracts/http/view-text';
import { renderAge } from '@hoodcloud/domain/duration-text';
import type { Command } from 'commander';
import type { Act, CommandIo } from '../command-io.ts';
import { renderPairs, renderTable } from '../output/table.ts';

/** `hoodctl chain …` */
export function addChainCommands(program: Command, act: Act): void {
  const chain = program.command('chain').description('the chains of the config folder, and how each stands');
  chain.command('list').description('list chains').action(act(list));
  chain.command('show').argument('<chain>', 'chain_profile_id').description('show one chain in full').action(act(show));
}

async function list(io: CommandIo): Promise<void> {
  const { items } = await (await io.api()).get<{ items: ChainView[] }>(PATHS.chains);
  io.answer(items, (chains) => renderChains(chains, io.context.now()));
  if (items.length === 0) io.remark('There is none: write CHAIN/profile.yaml into the config folder.');
}

async function show(io: CommandIo, [id = '']: readonly string[]): Promise<void> {
  const chain = await (await io.api()).get<ChainView>(PATHS.chain(id));
  io.answer(chain, (answer) => renderChain(answer, io.context.now()));
}

function renderChains(chains: readonly ChainView[], now: Date): string {
  const rows = chains.map((chain) => [
    chain.chain_profile_id,
    chain.runtime_type,
    `${chain.nodes_online} of ${chain.nodes}`,
    heightOf(chain, now),
    chain.active ? chain.active.type.replace('_', ' ') : undefined,
    chain.manifests,
    chain.problems.length > 0 ? `${chain.problems.length} in its files` : 'none',
  ]);
  return renderTable(['chain', 'runtime', 'online', 'height', 'changed by', 'manifests', 'problems'], rows);
}

function renderChain(chain: ChainView, now: Date): string {
  const pairs = renderPairs([
    ['Chain', chain.chain_profile_id],
    ['Node types', chain.node_types.join(', ')],
    ['Binaries', chain.binaries.map(({ name, artifact_kind }) => `${name} (${artifact_kind})`).join(', ')],
    ['Runtime', chain.runtime_type],
    ['Nodes', `${chain.nodes}, ${chain.nodes_online} online`],
    ['Height', heightOf(chain, now)],
    ['Approval', chain.two_person_approval ? 'by somebody else than who created the rollout' : 'by any operator'],
    ['Cooldown', cooldownText(chain.trust)],
    ['Origins', originsText(chain.trust)],
    ['Before the first node', startApprovalText(chain.trust)],
    ['Changed by', chain.active ? `${chain.active.type.replace('_', ' ')} ${chain.active.id}` : undefined],
    ['Manifests', `${chain.manifests}. See them: hoodctl manifest list ${chain.chain_profile_id}`],
  ]);
  return pairs + chain.problems.map((problem) => `✗ ${problem}\n`).join('');
}

function heightOf({ best_height, height_grew_at, halted }: ChainView, now: Date): string | undefined {
  if (best_height === null) return undefined;
  return `${best_height}, grew ${renderAge(height_grew_at, now)}${halted ? ' (halted)' : ''}`;
}
