import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledProgram } from '@hoodcloud/testkit/bundled-program';
import { controlPlaneProgram } from '../../../tools/build/build-controlplane.mjs';

/** The product's programs as they are shipped: what is tested is what operators run, and it starts faster than from source. */
export interface Programs {
  readonly hoodcloud: readonly [string, string];
  readonly hoodctl: readonly [string, string];
  readonly agent: readonly [string, string];
  dispose(): void;
}

/** Builds all three; the control plane only when its sources changed. */
export async function bundlePrograms(): Promise<Programs> {
  const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-programs-'));
  const shipped = async (name: 'cli' | 'agent', file: string): Promise<readonly [string, string]> => {
    await writeFile(join(folder, file), await bundledProgram(name));
    return [process.execPath, join(folder, file)];
  };
  const [built, hoodctl, agent] = await Promise.all([
    controlPlaneProgram(),
    shipped('cli', 'hoodctl.mjs'),
    shipped('agent', 'hoodcloud-agent.mjs'),
  ]);
  const hoodcloud = [process.execPath, join(built, 'hoodcloud.mjs')] as const;
  return { hoodcloud, hoodctl, agent, dispose: () => rmSync(folder, { recursive: true, force: true }) };
}
