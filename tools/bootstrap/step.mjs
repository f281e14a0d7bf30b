const TICK_MS = 1000;
const PLAIN_EVERY = 10; // without a terminal: one line each ten seconds is enough to see that it lives

/**
 * Runs one slow step and shows what it does, how long it usually takes and how long it has taken so far.
 * @template T
 * @param {string} what a sentence's beginning, e.g. "Installing dependencies"
 * @param {string} usual the expected time in words, e.g. "20-60 s"
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(what, usual, work) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const live = process.stderr.isTTY;
  process.stderr.write(`▸ ${what} (usually ${usual})${live ? '' : '\n'}`);
  const timer = setInterval(() => {
    if (live) process.stderr.write(`\r▸ ${what} (usually ${usual}) … ${seconds()} s`);
    else if (seconds() % PLAIN_EVERY === 0) process.stderr.write(`  … ${what}: ${seconds()} s\n`);
  }, TICK_MS);
  try {
    const result = await work();
    process.stderr.write(`${live ? '\r\x1b[K' : ''}✓ ${what}: ${seconds()} s\n`);
    return result;
  } catch (error) {
    process.stderr.write(`${live ? '\r\x1b[K' : ''}✗ ${what}: failed after ${seconds()} s\n`);
    throw error;
  } finally {
    clearInterval(timer);
  }
}
