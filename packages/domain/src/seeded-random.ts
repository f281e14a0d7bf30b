/** FNV-1a over UTF-16 code units: a 32-bit number that a text always gives. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** A generator of numbers in [0, 1) that a seed fully determines (mulberry32). */
export function seededRandom(seed: string): () => number {
  let state = hashText(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The items in an order drawn by the seed (Fisher-Yates); the input is left alone. */
export function seededShuffle<Item>(items: readonly Item[], seed: string): Item[] {
  const random = seededRandom(seed);
  const drawn: Item[] = [];
  const left = [...items];
  while (left.length > 0) {
    const at = Math.floor(random() * left.length);
    const [item] = left.splice(at, 1);
    if (item !== undefined) drawn.push(item);
  }
  return drawn;
}
