import { readFileSync } from 'node:fs';
import { FileFormatError, parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import { z } from 'zod';
import { ConfigError } from './config.ts';
import { SECRETS, SETTINGS } from './config-schema.ts';

type Values = Record<string, string>;

/** Names a configuration file where no `--config` does. */
export const CONFIG_FILE_VARIABLE = 'HOODCLOUD_CONFIG';

const fileOf = (secret: string) => `${secret}_FILE`;

/** A scalar as YAML has it, or a list where the environment takes several by commas. */
const value = z
  .union([z.string(), z.number(), z.boolean(), z.array(z.string())], {
    error: 'must be a text, a number, true, false, or a list of texts',
  })
  .transform((it) => (Array.isArray(it) ? it.join(',') : String(it)))
  .optional();
const names = [...Object.keys(SETTINGS.shape), ...SECRETS.map(fileOf)];
const fileSchema = z.preprocess(
  (content) => content ?? {}, // nothing but comments
  z.strictObject(Object.fromEntries(names.map((name) => [name, value]))),
);

/**
 * Puts the settings together: those of the file, over them those of the environment, each secret from its own file where
 * `NAME_FILE` says so.
 * @param file what `--config` names; left out: what HOODCLOUD_CONFIG names, or none
 * @returns by their names, for `readConfig`
 * @throws ConfigError: a file that can't be read, an unknown name with file and line, a secret that is given twice
 */
export function settingsFrom(env: NodeJS.ProcessEnv, file?: string): Values {
  const named = file ?? (env[CONFIG_FILE_VARIABLE] || undefined);
  const ofFile = named === undefined ? {} : secretsRead(readSettingsFile(named), named);
  const ofEnvironment = secretsRead(
    Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]))),
    'the environment',
  );
  return { ...ofFile, ...ofEnvironment };
}

function readSettingsFile(file: string): Values {
  try {
    const parsed = parseYamlFile(file, textOf(file, 'the configuration file'), fileSchema);
    const given = Object.entries(parsed).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return Object.fromEntries(given);
  } catch (error) {
    if (error instanceof FileFormatError) throw new ConfigError(error.problems);
    throw error;
  }
}

/** @throws ConfigError when one source gives a secret both ways, or its file can't be read */
function secretsRead(values: Values, source: string): Values {
  const read = { ...values };
  for (const secret of SECRETS) {
    const file = read[fileOf(secret)];
    if (file === undefined) continue;
    if (read[secret] !== undefined) {
      throw new ConfigError([`${source} gives both ${secret} and ${fileOf(secret)}: leave one of them out`]);
    }
    delete read[fileOf(secret)];
    read[secret] = textOf(file, fileOf(secret)).replace(/\r?\n$/, '');
  }
  return read;
}

function textOf(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`${what}: ${file} can't be read (${why})`]);
  }
}
