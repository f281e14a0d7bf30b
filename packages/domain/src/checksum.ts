const PREFIXED = /^sha256:[0-9a-f]{64}$/i;
const BARE = /^[0-9a-f]{64}$/i;

/** Whether the text is `sha256:` and 64 hex digits. */
export function isPrefixedSha256(text: string): boolean {
  return PREFIXED.test(text);
}

/** Whether the text is a SHA-256, with or without its prefix. */
export function isSha256(text: string): boolean {
  return PREFIXED.test(text) || BARE.test(text);
}

/** The 64 hex digits in lower case, so that two notations of one hash compare equal. */
export function bareSha256(text: string): string {
  return text.toLowerCase().replace(/^sha256:/, '');
}
