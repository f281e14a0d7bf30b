const STRING = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g;
const CITATION = /field-cases? ((?:\d+)(?:(?:, | and )\d+)*)/g;

/**
 * The field cases that a test file cites in its titles: in string literals, never in comments.
 * @param {string} source of a test file
 * @returns {{ number: number, title: string }[]} in the order of the file
 */
export function citations(source) {
  const found = [];
  for (const line of withoutComments(source).matchAll(STRING)) {
    const title = (line[1] ?? line[2] ?? line[3]).replaceAll(/\\(.)/g, '$1');
    for (const [, numbers] of title.matchAll(CITATION)) {
      for (const number of numbers.match(/\d+/g)) found.push({ number: Number(number), title });
    }
  }
  return found;
}

/** Apostrophes in comments would open strings; a comment begins its line in this code base. */
function withoutComments(source) {
  return source.replaceAll(/^\s*(\/\/.*|\/\*\*?[\s\S]*?\*\/)$/gm, '').replaceAll(/ \/\/ .*$/gm, '');
}
