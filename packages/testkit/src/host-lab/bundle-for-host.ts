import { build } from 'esbuild';
import { engineClientOnly } from '../../../../tools/build/engine-client.mjs';
import type { Host } from './lab-host.ts';

/** Bundles one TypeScript program into a file inside the host, so that `node <target>` starts it in a few milliseconds. */
export async function bundleForHost(host: Host, entry: string, target: string): Promise<void> {
  const built = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    plugins: [engineClientOnly],
    // CommonJS libraries inside an ES module ask for `require`.
    banner: { js: "import { createRequire as own } from 'node:module'; const require = own(import.meta.url);" },
  });
  const [file] = built.outputFiles;
  await host.writeFile(target, Buffer.from(file?.contents ?? []));
}
