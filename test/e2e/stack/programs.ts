import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { engineClientOnly } from '../../../tools/build/engine-client.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** CommonJS libraries inside an ES module ask for `require`. */
const REQUIRE =
  "import { createRequire as hoodcloudRequire } from 'node:module';const require = hoodcloudRequire(import.meta.url);";

/** The product's programs in one file each, so that a start costs a test a fraction of what it costs from source. */
export interface Programs {
  readonly hoodcloud: readonly [string, string];
  readonly hoodctl: readonly [string, string];
  readonly agent: readonly [string, string];
  dispose(): void;
}

/** Bundles hoodctl and the agent as they are shipped, and the control plane with its libraries left outside. */
export async function bundlePrograms(): Promise<Programs> {
  const cache = join(ROOT, 'packages/controlplane/node_modules/.cache'); // where its libraries are found
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'hoodcloud-e2e-'));
  const bundled = async (entry: string, name: string, more: object): Promise<readonly [string, string]> => {
    const outfile = join(folder, name);
    await build({
      entryPoints: [join(ROOT, 'packages', entry)],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      logLevel: 'error',
      ...more,
    });
    return [process.execPath, outfile];
  };
  const [hoodcloud, hoodctl, agent] = await Promise.all([
    bundled('controlplane/src/bin/hoodcloud.ts', 'hoodcloud.mjs', { plugins: [librariesOutside, filesInPlace] }),
    bundled('cli/src/bin/hoodctl.ts', 'hoodctl.mjs', { banner: { js: REQUIRE } }),
    bundled('agent/src/bin/hoodcloud-agent.ts', 'hoodcloud-agent.mjs', {
      plugins: [engineClientOnly],
      banner: { js: REQUIRE },
    }),
  ]);
  return { hoodcloud, hoodctl, agent, dispose: () => rmSync(folder, { recursive: true, force: true }) };
}

const librariesOutside: Plugin = {
  name: 'libraries outside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith('@hoodcloud/') ? undefined : { path, external: true },
    ),
};

/** Migrations, workflows and the template engine are found beside the sources that name them. */
const filesInPlace: Plugin = {
  name: 'files in place',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/packages\/[^/]+\/src\/.*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href));
      return { contents, loader: 'ts' };
    }),
};
