import { readCosmosRegistry } from '@hoodcloud/domain/release-import/cosmos-registry';
import type { CommandIo } from '../command-io.ts';
import type { ExitCode } from '../exit-code.ts';
import { finishImport } from './finish-import.ts';
import type { ImportOptions } from './import-options.ts';
import { parseJson, readSource } from './read-source.ts';

interface RegistryOptions extends ImportOptions {
  readonly chainRegistry: string;
  readonly name: string;
}

/** `hoodctl import cosmos-registry` */
export async function importCosmosRegistry(
  io: CommandIo,
  _args: readonly string[],
  options: RegistryOptions,
): Promise<ExitCode> {
  const source = await readSource(io, options.chainRegistry);
  const { name: version, targetVersion = null } = options;
  const announcement = readCosmosRegistry(parseJson(source), { file: source.name, version, targetVersion });
  return finishImport(io, announcement, options);
}
