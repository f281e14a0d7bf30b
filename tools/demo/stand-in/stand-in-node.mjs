// A validator of the demo's stand-in chain, for machines that can't build CometBFT. It is a real long-running program
// with data, peers, a quorum and the same RPC and metrics, and nothing more: no signatures, no transactions.
// Usage: RELEASE stand-in-node.mjs start --home FOLDER, where RELEASE is a copy of Node with a release's trailer.
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const LOOK_MS = 200;
const BLOCK_MS = 800;
const MARK = '\nHOODCLOUD-STAND-IN ';

const home = process.argv[process.argv.indexOf('--home') + 1];
const { release, format } = readTrailer();
const { name, address, rpcPort, metricsPort, peers } = JSON.parse(readFileSync(join(home, 'node.json'), 'utf8'));
const dataFile = join(home, 'chain.json');
let tip = existsSync(dataFile) ? JSON.parse(readFileSync(dataFile, 'utf8')) : { format, height: 0, slot: 0 };
let peersSeen = 0;

log(`stand-in ${release} starts as ${name} at height ${tip.height}`);
if (tip.format !== format) {
  log(`panic: data folder ${home}: format ${tip.format} is unknown to ${release}, which reads format ${format}`);
  process.exit(2);
}

serve(rpcPort, () => ['application/json', JSON.stringify({ result: status() })]);
serve(metricsPort, () => ['text/plain', metrics()]);
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    log(`captured ${signal}, exiting at height ${tip.height}`);
    process.exit(0);
  });
}
setInterval(() => void look(), LOOK_MS);

/** Follows the best peer; with more than two thirds up, the first to see a new slot makes its block. */
async function look() {
  const answers = (await Promise.all(peers.map(ask))).filter(Boolean);
  peersSeen = answers.length;
  const best = answers.reduce((left, right) => (right.height > left.height ? right : left), tip);
  const slot = Math.floor(Date.now() / BLOCK_MS);
  const quorum = (answers.length + 1) * 3 > (peers.length + 1) * 2;
  const next = quorum && slot > best.slot ? { height: best.height + 1, slot } : best;
  if (next.height > tip.height) keep({ format, height: next.height, slot: next.slot });
}

function keep(block) {
  tip = block;
  writeFileSync(`${dataFile}.new`, JSON.stringify(tip));
  renameSync(`${dataFile}.new`, dataFile);
  if (tip.height % 10 === 0) log(`committed height ${tip.height} with ${peersSeen} peers`);
}

async function ask(url) {
  try {
    const response = await fetch(`${url}/status`, { signal: AbortSignal.timeout(LOOK_MS) });
    const { result } = await response.json();
    return { height: Number(result.sync_info.latest_block_height), slot: result.slot };
  } catch {
    return null; // a peer that is down is what the quorum is about
  }
}

function status() {
  return {
    node_info: { network: 'stand-in', version: release, moniker: name },
    sync_info: { latest_block_height: String(tip.height), catching_up: peersSeen === 0 },
    validator_info: { address, voting_power: '100' },
    slot: tip.slot,
  };
}

function metrics() {
  return [
    `cometbft_consensus_latest_block_height ${tip.height}`,
    `cometbft_consensus_validator_last_signed_height{validator_address="${address}"} ${tip.height}`,
    `cometbft_blocksync_syncing ${peersSeen === 0 ? 1 : 0}`,
    `cometbft_p2p_peers ${peersSeen}`,
    '',
  ].join('\n');
}

function serve(port, answer) {
  createServer((_, response) => {
    const [type, body] = answer();
    response.writeHead(200, { 'content-type': type }).end(body);
  }).listen(port, '127.0.0.1');
}

/** What the running executable says it is: the last bytes of its own file. */
function readTrailer() {
  const file = openSync(process.execPath, 'r');
  const bytes = Buffer.alloc(256);
  readSync(file, bytes, 0, bytes.length, fstatSync(file).size - bytes.length);
  closeSync(file);
  const text = bytes.toString('latin1');
  const at = text.lastIndexOf(MARK);
  if (at === -1) throw new Error(`${process.execPath} is no release of the stand-in chain`);
  return JSON.parse(text.slice(at + MARK.length));
}

function log(text) {
  process.stdout.write(`${new Date().toISOString()} ${text}\n`);
}
