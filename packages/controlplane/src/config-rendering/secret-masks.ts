/** Names of what nobody may read: of variables, and of keys in a config file. */
const SECRET_WORDS =
  'pass(?:word|wd|phrase)?|secret|token|private|mnemonic|credential|jwt|api[_-]?key|auth[_-]?key|access[_-]?key|signing[_-]?key';
const SECRET_NAME = new RegExp(SECRET_WORDS, 'i');
/** `rpc_password = "…"`, `"apiToken": "…",`, `PASSWORD=…`: key with its sign, then all that follows on the line. */
const SECRET_LINE = new RegExp(`^([^:=#]*(?:${SECRET_WORDS})[\\w.\\-]*["']?\\s*[:=]\\s*)(\\S.*?)(\\s*,?\\s*)$`, 'i');
/** `--rpc.password=…` and `--rpc.password …` anywhere in a line. */
const SECRET_FLAG = new RegExp(`(--[\\w.\\-]*(?:${SECRET_WORDS})[\\w.\\-]*[= ])("[^"]*"|'[^']*'|\\S+)`, 'gi');
/** `postgres://name:…@host`. */
const URL_PASSWORD = /(:\/\/[^\s:@/]*:)([^\s@/]+)(@)/g;
const PRIVATE_KEY = /(-----BEGIN [A-Z ]*PRIVATE KEY-----)([\s\S]*?)(-----END [A-Z ]*PRIVATE KEY-----)/g;
/** Values that can't be a secret and say something. */
const TELLING = /^["']?(?:true|false|null)?["']?$/i;
const MASK = /<secret\b[^>]*>/;

/** Whether a variable's value is shown to nobody: the chain's profile says so, or its name does. */
export function isSecretVariable(name: string, secretVariables: readonly string[]): boolean {
  return secretVariables.includes(name) || SECRET_NAME.test(name);
}

/** What stands for a variable's value. @param changed the value is another one than before */
export function maskOf(name: string, changed: boolean): string {
  return changed ? `<secret ${name}, new value>` : `<secret ${name}>`;
}

export interface MaskedText {
  readonly text: string;
  /** The values that were masked. */
  readonly values: ReadonlySet<string>;
}

/**
 * Masks what a text itself gives away: values of keys and flags whose names say that they are secret, passwords in
 * addresses, private keys.
 * @param earlier values masked in the text before; a value that is not among them is told as new. null: there is no text before
 */
export function maskLiterals(text: string, earlier: ReadonlySet<string> | null): MaskedText {
  const values = new Set<string>();
  const mask = (value: string): string => {
    if (TELLING.test(value) || MASK.test(value)) return value;
    values.add(value);
    return earlier === null || earlier.has(value) ? '<secret>' : '<secret, new value>';
  };
  const between = (_: string, before: string, value: string, after = '') => `${before}${mask(value)}${after}`;
  const lines = text
    .replace(PRIVATE_KEY, between)
    .split('\n')
    .map((line) => line.replace(SECRET_LINE, between).replace(URL_PASSWORD, between))
    .map((line) => line.replace(SECRET_FLAG, (_, flag: string, value: string) => `${flag}${mask(value)}`));
  return { text: lines.join('\n'), values };
}
