import { balance, blockHash, blockNumber, transfer } from '@hoodcloud/testkit/chains/geth-rpc';
import { until } from '@hoodcloud/testkit/until';
import type { ChainState } from './real-node.ts';

const ACCOUNT = '0x00000000000000000000000000000000000c0ffe';

export const GETH_HEALTH = {
  healthy_expression: 'metrics.chain_head_block > 0.0',
  synced_expression: 'metrics.chain_head_block > 0.0',
  height_metric: 'chain_head_block',
  max_block_interval_seconds: 60,
};

/** What v1.17.10 writes about a database of v1.16.9. */
export const GETH_REFUSAL = /Could not open database.*no such file or directory/;

/** Waits for the node's first blocks and moves some money, so that there is a state to lose. */
export async function seedGeth(rpcUrl: string): Promise<void> {
  await until('geth to make blocks', async () => (await blockNumber(rpcUrl)) >= 2);
  for (const wei of [1n, 10n, 100n]) await transfer(rpcUrl, ACCOUNT, wei);
  await until('the transfers to be in a block', async () => (await balance(rpcUrl, ACCOUNT)) === 111n);
}

/** Height, the account's balance and the hash of an old block (2 by default, made before every test). */
export async function gethState(rpcUrl: string, atBlock = 2): Promise<ChainState> {
  const kept = { balance: String(await balance(rpcUrl, ACCOUNT)), block: await blockHash(rpcUrl, atBlock) };
  return { height: await blockNumber(rpcUrl), kept };
}
