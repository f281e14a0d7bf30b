/** What a CometBFT node says of itself. */
export interface CometbftStatus {
  readonly height: number;
  /** False says little: it turns false before the tip (decision D4a). */
  readonly catchingUp: boolean;
  readonly votingPower: number;
  readonly address: string;
  readonly chainId: string;
  /** What the running program calls itself, without `v`; may lag behind its release. */
  readonly version: string;
}

/** A node's RPC did not answer, or not as expected. */
export class CometbftRpcError extends Error {
  readonly code = 'cometbft_rpc_failed';
}

/** Calls one RPC method by GET. Times out after `timeoutMs`. */
export async function rpc(rpcUrl: string, path: string, timeoutMs = 15_000): Promise<unknown> {
  try {
    const response = await fetch(`${rpcUrl}/${path}`, { signal: AbortSignal.timeout(timeoutMs) });
    const body = (await response.json()) as { result?: unknown; error?: unknown };
    if (!response.ok || body.result === undefined)
      throw new Error(`HTTP ${response.status} ${JSON.stringify(body.error)}`);
    return body.result;
  } catch (cause) {
    throw new CometbftRpcError(`${rpcUrl}/${path}: ${String(cause)}`, { cause });
  }
}

/** The node's own view: height, voting power, identity. */
export async function status(rpcUrl: string, timeoutMs?: number): Promise<CometbftStatus> {
  const result = (await rpc(rpcUrl, 'status', timeoutMs)) as {
    sync_info: { latest_block_height: string; catching_up: boolean };
    validator_info: { voting_power: string; address: string };
    node_info: { network: string; version: string };
  };
  return {
    height: Number(result.sync_info.latest_block_height),
    catchingUp: result.sync_info.catching_up,
    votingPower: Number(result.validator_info.voting_power),
    address: result.validator_info.address,
    chainId: result.node_info.network,
    version: result.node_info.version,
  };
}

/** The node's latest block height. */
export async function height(rpcUrl: string): Promise<number> {
  return (await status(rpcUrl)).height;
}

/** The addresses that signed a height, as one node stored it. */
export async function signers(rpcUrl: string, atHeight: number): Promise<ReadonlySet<string>> {
  const result = (await rpc(rpcUrl, `commit?height=${atHeight}`)) as {
    signed_header: { commit: { signatures: readonly { validator_address: string }[] } };
  };
  return new Set(result.signed_header.commit.signatures.map((signature) => signature.validator_address));
}

/** The heights in `from..to` (both included) that a validator signed, read from any node. */
export async function signedHeights(rpcUrl: string, address: string, from: number, to: number): Promise<number[]> {
  const signed: number[] = [];
  for (let at = from; at <= to; at += 1) {
    if ((await signers(rpcUrl, at)).has(address)) signed.push(at);
  }
  return signed;
}
