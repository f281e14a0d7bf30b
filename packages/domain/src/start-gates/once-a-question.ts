/**
 * Works out something of a key once for a moment: thousands of nodes ask the same of one window or of all freezes. Keys are
 * parts of a snapshot, so the answers go with it.
 */
export function onceAQuestion<Key extends object, Answer>(
  work: (key: Key, now: number) => Answer,
): (key: Key, now: number) => Answer {
  const known = new WeakMap<Key, { readonly now: number; readonly answer: Answer }>();
  return (key, now) => {
    const before = known.get(key);
    if (before?.now === now) return before.answer;
    const answer = work(key, now);
    known.set(key, { now, answer });
    return answer;
  };
}
