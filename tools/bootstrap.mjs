#!/usr/bin/env node
// The one entry of every `npm run` script. Plain Node without dependencies, since it is what installs them.
// Usage: node tools/bootstrap.mjs VERB [arguments]; `help` lists the verbs.
import { needNode } from './bootstrap/need-node.mjs';
import { SetupError } from './bootstrap/setup-error.mjs';

needNode();

/** Verb → the module that exports `run(args)` and answers the exit code. Imported late: only what is used is read. */
const VERBS = {
  test: ['./verbs/test.mjs', 'run the tests: test [unit|db|workflow|host|crash|e2e|web …] [vitest arguments]'],
  crash: ['./verbs/crash.mjs', 'tear the agent, its host and its network out of upgrades: crash [--all]'],
  faults: ['./verbs/faults.mjs', 'ten rollouts at once while databases, engine, NATS and roles are killed'],
  'test:api': ['./verbs/test-api.mjs', 'a third-party API tester against the served OpenAPI: test:api [--all]'],
  check: ['./verbs/check.mjs', 'format, lint, types, unused code, import rules, generated files, file sizes'],
  'check:deploy': ['./verbs/check-deploy.mjs', 'compose files and Kubernetes manifests, by their own tools'],
  build: ['./verbs/build.mjs', 'bundle programs and the dashboard: build [cli|agent|dashboard|controlplane]'],
  images: ['./verbs/images.mjs', 'container images without a registry: images [controlplane|stand-ins]'],
  'test:deploy': [
    './verbs/test-deploy.mjs',
    'the compose file with images of this tree: rollout, upgrade, backup and restore',
  ],
  package: [
    './verbs/package.mjs',
    'make the agent one program with its own runtime, and a .deb: package [--arch x64|arm64]',
  ],
  generate: ['./verbs/generate.mjs', 'write every generated file anew'],
  bench: ['./verbs/bench.mjs', 'run a measurement: bench [--keep] NAME | all, without a name lists them'],
  mutants: ['./verbs/mutants.mjs', 'prove that each guarantee has a test that fails without it'],
  planted: [
    './verbs/planted.mjs',
    'plant bugs and take how long walk, simulation and model-based tests need to find them',
  ],
  sim: ['./verbs/sim.mjs', 'simulate rollouts over thousands of nodes: sim [--seed N] [--steps N] | --walk'],
  'spec-coverage': [
    './verbs/spec-coverage.mjs',
    'the test that proves each item of the specification: spec-coverage [--run [tier…]]',
  ],
  demo: ['./verbs/demo.mjs', 'upgrade a live chain before your eyes'],
  start: ['./verbs/start.mjs', 'run every role with embedded stores'],
};

async function main([verb = 'help', ...args]) {
  const entry = VERBS[verb];
  if (!entry) {
    for (const [name, [, what]] of Object.entries(VERBS)) console.log(`  npm run ${name.padEnd(9)} ${what}`);
    return verb === 'help' ? 0 : 2;
  }
  const { run } = await import(entry[0]);
  return run(args);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`\n✗ ${error.message}\n  What to do: ${error.advice}`);
  process.exit(1); // other steps may still run: they end with us
}
