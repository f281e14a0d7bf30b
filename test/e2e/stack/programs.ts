import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundledProgram } from '@hoodcloud/testkit/bundled-program';
import { build, type Plugin } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

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
  const shipped = async (name: 'cli' | 'agent', file: string): Promise<readonly [string, string]> => {
    await writeFile(join(folder, file), await bundledProgram(name));
    return [process.execPath, join(folder, file)];
  };
  const [hoodcloud, hoodctl, agent] = await Promise.all([
    bundleControlPlane(join(folder, 'hoodcloud.mjs')),
    shipped('cli', 'hoodctl.mjs'),
    shipped('agent', 'hoodcloud-agent.mjs'),
  ]);
  return { hoodcloud, hoodctl, agent, dispose: () => rmSync(folder, { recursive: true, force: true }) };
}

async function bundleControlPlane(outfile: string): Promise<readonly [string, string]> {
  await build({
    entryPoints: [join(ROOT, 'packages/controlplane/src/bin/hoodcloud.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'error',
    plugins: [librariesOutside, filesInPlace],
  });
  return [process.execPath, outfile];
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
