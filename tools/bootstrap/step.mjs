const TICK_MS = 1000;
const PLAIN_EVERY_MS = 10_000; // without a terminal a line each ten seconds is enough to see that it lives

/** Steps under way, in the order they began; several may run side by side. */
const underWay = new Set();
let ticker;

/**
 * Runs one slow step and shows what it does, how long it usually takes and how long it has taken so far.
 * @template T
 * @param {string} what a sentence's beginning, e.g. "Installing dependencies"
 * @param {string} usual the expected time in words, e.g. "20-60 s"
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(what, usual, work) {
  const it = { what, usual, started: Date.now(), said: Date.now() };
  begin(it);
  let mark = '✗';
  try {
    const result = await work();
    mark = '✓';
    return result;
  } finally {
    end(it, mark);
  }
}

function begin(it) {
  underWay.add(it);
  if (!process.stderr.isTTY) process.stderr.write(`▸ ${it.what} (usually ${it.usual})\n`);
  ticker ??= setInterval(tick, TICK_MS);
  tick();
}

function end(it, mark) {
  underWay.delete(it);
  clearLine();
  process.stderr.write(`${mark} ${it.what}: ${mark === '✓' ? '' : 'failed after '}${seconds(it)} s\n`);
  if (underWay.size > 0) return tick();
  clearInterval(ticker);
  ticker = undefined;
}

/** On a terminal one line that is written over; elsewhere a line a step from time to time. */
function tick() {
  if (process.stderr.isTTY) {
    const all = [...underWay].map((it) => `▸ ${it.what} (usually ${it.usual}) … ${seconds(it)} s`).join('   ');
    clearLine();
    process.stderr.write(all.slice(0, Math.max(20, (process.stderr.columns || 120) - 1)));
    return;
  }
  for (const it of underWay) {
    if (Date.now() - it.said < PLAIN_EVERY_MS) continue;
    it.said = Date.now();
    process.stderr.write(`  … ${it.what}: ${seconds(it)} s\n`);
  }
}

function clearLine() {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}

const seconds = ({ started }) => Math.round((Date.now() - started) / 1000);
