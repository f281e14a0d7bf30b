/**
 * A part of the specification: what stands under one heading, in the order of the text.
 * @typedef {{ heading: string, level: number, path: string[], lines: string[] }} Section
 */

/** @param {string} text @returns {Section[]} */
export function sectionsOf(text) {
  const sections = [];
  let path = [];
  let fenced = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    const heading = fenced ? null : /^(#{2,4}) (.+)$/.exec(line);
    if (heading) {
      const level = heading[1].length;
      path = [...path.slice(0, level - 2), heading[2].trim()];
      sections.push({ heading: heading[2].trim(), level, path, lines: [] });
    } else sections.at(-1)?.lines.push(line);
  }
  return sections;
}

/**
 * The tables of a section, each with the last line of text before it.
 * @returns {{ title: string, header: string[], rows: string[][] }[]}
 */
export function tablesOf({ lines }) {
  const tables = [];
  let title = '';
  let open = null;
  for (const line of lines) {
    if (!line.startsWith('|')) {
      if (line.trim() !== '') title = line.trim();
      open = null;
      continue;
    }
    const cells = line
      .slice(1, line.lastIndexOf('|'))
      .split('|')
      .map((cell) => cell.trim());
    if (open === null) {
      open = { title, header: cells, rows: [] };
      tables.push(open);
    } else if (!cells.every((cell) => /^-+$/.test(cell))) open.rows.push(cells);
  }
  return tables;
}

/** The edges of a section's state diagrams; `[*]` is what comes before the first state. */
export function edgesOf({ lines }) {
  const diagrams = [];
  let title = '';
  for (const line of lines) {
    if (/^\*\*.*\*\*/.test(line)) title = /^\*\*(.+?)\*\*/.exec(line)[1].replace(/:$/, '');
    if (line.startsWith('stateDiagram')) diagrams.push({ title, edges: [] });
    const edge = /^\s+(\S+) --> (\S+)/.exec(line);
    if (edge && diagrams.length > 0) diagrams.at(-1).edges.push({ from: edge[1], to: edge[2] });
  }
  return diagrams;
}

/** Names in code style, in their order. */
export const codesOf = (text) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code);
