/** What this process does without at the moment, by the part that knows it; it lives and works all the same. */
const known = new Map<string, string>();

/** Says that a part works worse than it should, in one sentence, or null that all is well with it again. */
export function setDegradation(part: string, sentence: string | null): void {
  if (sentence === null) known.delete(part);
  else known.set(part, sentence);
}

/** Every degradation as `part: sentence`; empty when all is well. `/readyz` shows them and stays 200. */
export function degradations(): string[] {
  return [...known].map(([part, sentence]) => `${part}: ${sentence}`).sort();
}
