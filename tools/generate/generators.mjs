/**
 * Everything that is generated and checked in: one line each. `npm run generate` runs them in this order, `npm run check`
 * fails when an output differs from what its generator writes. `outputs` are files or folders relative to the root;
 * `needs` names a file without which the generator has nothing to do yet.
 * @type {{ name: string, command: string[], cwd?: string, outputs: string[], needs: string, stores?: boolean }[]}
 */
export const GENERATORS = [
  {
    name: 'wire',
    command: ['npx', 'buf', 'generate'],
    cwd: 'packages/contracts',
    outputs: ['packages/contracts/src/wire/gen'],
    needs: 'packages/contracts/buf.gen.yaml',
  },
  {
    name: 'database',
    command: ['npx', 'tsx', 'tools/generate/database.ts'],
    outputs: ['packages/controlplane/src/db/generated', 'packages/controlplane/src/db/schema.sql'],
    needs: 'tools/generate/database.ts',
    stores: true,
  },
  {
    name: 'state-machines',
    command: ['npx', 'tsx', 'tools/generate/state-machines.ts'],
    outputs: ['docs/state-machines'],
    needs: 'tools/generate/state-machines.ts',
  },
  {
    name: 'why-it-waits',
    command: ['npx', 'tsx', 'tools/generate/why-it-waits.ts'],
    outputs: ['docs/reference/why-it-waits.md'],
    needs: 'tools/generate/why-it-waits.ts',
  },
  {
    name: 'rule-combinations',
    command: ['npx', 'tsx', 'tools/generate/rule-combinations.ts'],
    outputs: ['docs/reference/rule-combinations.md'],
    needs: 'tools/generate/rule-combinations.ts',
  },
  {
    name: 'import-defects',
    command: ['npx', 'tsx', 'tools/generate/import-defects.ts'],
    outputs: ['docs/reference/import-defects.md'],
    needs: 'tools/generate/import-defects.ts',
  },
  {
    name: 'hoodctl',
    command: ['npx', 'tsx', 'tools/generate/hoodctl-reference.ts'],
    outputs: ['docs/reference/hoodctl.md'],
    needs: 'tools/generate/hoodctl-reference.ts',
  },
  {
    name: 'configuration',
    command: ['npx', 'tsx', 'tools/generate/configuration.ts'],
    outputs: ['docs/reference/configuration.md'],
    needs: 'tools/generate/configuration.ts',
  },
  {
    name: 'guarantees',
    command: ['node', 'tools/generate/guarantees.mjs'],
    outputs: ['docs/guarantees.md'],
    needs: 'test/mutants',
  },
  {
    name: 'crash-matrix',
    command: ['node', 'tools/generate/crash-matrix.mjs'],
    outputs: ['docs/crash-matrix.md'],
    needs: 'tools/generate/crash-matrix.mjs',
  },
  {
    name: 'field-cases',
    command: ['node', 'tools/generate/field-cases.mjs'],
    outputs: ['docs/reference/field-cases.md'],
    needs: 'test/field-cases/field-cases.yaml',
  },
  {
    name: 'spec-coverage',
    command: ['node', 'tools/generate/spec-coverage.mjs'],
    outputs: ['docs/reference/spec-coverage.md'],
    needs: 'test/specification/proofs.yaml',
  },
  {
    name: 'performance',
    command: ['node', 'tools/generate/performance.mjs'],
    outputs: ['docs/performance.md', 'docs/performance'],
    needs: 'test/bench/results',
  },
  {
    name: 'openapi',
    command: ['npx', 'tsx', 'tools/generate/openapi.ts'],
    outputs: ['packages/contracts/openapi.json'],
    needs: 'tools/generate/openapi.ts',
  },
  {
    name: 'asyncapi',
    command: ['npx', 'tsx', 'tools/generate/asyncapi.ts'],
    outputs: ['packages/contracts/asyncapi.json'],
    needs: 'tools/generate/asyncapi.ts',
  },
  {
    name: 'json-schemas',
    command: ['npx', 'tsx', 'tools/generate/json-schemas.ts'],
    outputs: ['packages/contracts/schemas'],
    needs: 'tools/generate/json-schemas.ts',
  },
];
