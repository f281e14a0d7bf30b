/** A configuration file lacks a key that is to be set: the release's layout is another one than expected. */
export class TomlKeyMissing extends Error {
  readonly code = 'toml_key_missing';
}

/**
 * Sets a key that exists, leaving every other byte and comment as it is.
 * @param section the table's name, '' for keys before the first table
 * @throws TomlKeyMissing when the key is not there; a new key would be ignored in silence by most programs
 */
export function setTomlKey(toml: string, section: string, key: string, value: string | number | boolean): string {
  const lines = toml.split('\n');
  let current = '';
  for (const [index, line] of lines.entries()) {
    const table = /^\[([^\]]+)\]/.exec(line);
    if (table?.[1] !== undefined) current = table[1];
    else if (current === section && line.split('=')[0]?.trim() === key) {
      lines[index] = `${key} = ${JSON.stringify(value)}`;
      return lines.join('\n');
    }
  }
  throw new TomlKeyMissing(`there is no key ${key} in ${section === '' ? 'the top level' : `[${section}]`}`);
}
