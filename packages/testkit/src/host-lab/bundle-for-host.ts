import { bundledProgram } from '../bundled-program.ts';
import type { Host } from './lab-host.ts';

/** Bundles one TypeScript program into a file inside the host, so that `node <target>` starts it in a few milliseconds. */
export async function bundleForHost(host: Host, entry: string, target: string): Promise<void> {
  await host.writeFile(target, await bundledProgram(entry));
}
