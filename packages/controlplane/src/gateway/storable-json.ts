/**
 * JSON text that Postgres takes as jsonb: NUL, which it refuses in text, becomes U+FFFD. What a crashing node writes to
 * its log ends up in results, and one odd byte in it must not lose the result.
 */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? storableText(part) : part));
}

/** Text that Postgres takes, cut to the column's length in characters. */
export function storableText(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  const clean = text.replaceAll('\0', '\uFFFD');
  return clean.length > maxLength ? clean.slice(0, maxLength) : clean;
}

/** `linux/amd64`; null when an agent doesn't say it in a form that can be one. */
export function platformOf(said: { readonly os: string; readonly arch: string } | undefined): string | null {
  const platform = `${said?.os}/${said?.arch}`;
  return /^[a-z0-9]{1,20}\/[a-z0-9]{1,20}$/.test(platform) ? platform : null;
}
