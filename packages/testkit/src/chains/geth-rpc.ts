/** A geth node's RPC did not answer, or with an error. */
export class GethRpcError extends Error {
  readonly code = 'geth_rpc_failed';
}

/** Calls one JSON-RPC method. Times out after `timeoutMs`. */
async function call<Result>(url: string, method: string, params: unknown[] = [], timeoutMs = 15_000): Promise<Result> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { result, error } = (await response.json()) as { result?: Result; error?: { message: string } };
    if (result === undefined) throw new Error(error?.message ?? `HTTP ${response.status}`);
    return result;
  } catch (cause) {
    throw new GethRpcError(`${url} ${method}: ${String(cause)}`, { cause });
  }
}

/** The number of the newest block. */
export async function blockNumber(url: string): Promise<number> {
  return Number(await call<string>(url, 'eth_blockNumber'));
}

/** The hash of a block: the same after a restart, or history was rewritten. */
export async function blockHash(url: string, number: number): Promise<string> {
  return (await call<{ hash: string }>(url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])).hash;
}

/** What an account owns, in wei. */
export async function balance(url: string, account: string): Promise<bigint> {
  return BigInt(await call<string>(url, 'eth_getBalance', [account, 'latest']));
}

/** Sends wei from the developer account; it is owned once the next block is made. */
export async function transfer(url: string, to: string, wei: bigint): Promise<void> {
  const [from] = await call<string[]>(url, 'eth_accounts');
  await call(url, 'eth_sendTransaction', [{ from, to, value: `0x${wei.toString(16)}` }]);
}
