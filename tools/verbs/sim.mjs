import { runTypeScript } from '../bootstrap/run-typescript.mjs';
import { setUp } from '../bootstrap/set-up.mjs';

/** `sim [--seed N] [--steps N]`: rollouts over thousands of simulated nodes; `sim --walk` goes to every state of small worlds. */
export async function run(args) {
  await setUp({ stores: false });
  return runTypeScript('test/simulation/simulate.ts', args);
}
