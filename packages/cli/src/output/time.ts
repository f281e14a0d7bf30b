/**
 * Reads `90s`, `5m`, `2h` as milliseconds; null when it is none of these.
 */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  if (!match?.[1] || !match[2]) return null;
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match[2]] ?? 0;
  return Number(match[1]) * unit;
}
