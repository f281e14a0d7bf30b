import { codesOf, edgesOf, sectionsOf, tablesOf } from './read-markdown.mjs';

/** Sections that say nothing which could be proved: what the text is about, and where else to read. */
const NOT_A_PROMISE = ['Overview', 'Related Documents'];

/**
 * Every promise of the specification, taken from its text: sections that have no items of their own, tables, columns, edges, signals, endpoints, rules,
 * activities, metrics, subjects and events, and the rows of all its other tables.
 * @param {string} text of the specification
 * @typedef {{ id: string, kind: string, says: string }} Item
 * @returns {Item[]}
 */
export function extractItems(text) {
  const items = new Map();
  const add = (kind, name, says) => {
    const id = `${kind}:${name}`;
    if (!items.has(id)) items.set(id, { id, kind, says: says.replaceAll(/\s+/g, ' ').trim() });
  };
  for (const section of sectionsOf(text)) {
    if (NOT_A_PROMISE.some((name) => section.path.includes(name))) continue;
    const before = items.size;
    for (const table of tablesOf(section)) addTable(add, section, table);
    for (const { title, edges } of edgesOf(section)) addEdges(add, title, edges);
    addLines(add, section);
    const hasText = section.lines.some((line) => /^[A-Za-z`*]/.test(line));
    if (items.size === before && hasText) add('section', section.path.join(' / '), section.lines.join(' '));
  }
  return [...items.values()];
}

function addTable(add, section, { title, header, rows }) {
  const [first] = header;
  for (const cells of rows) {
    const says = cells.slice(1).join(' · ');
    const [name = ''] = codesOf(cells[0]).length > 0 ? codesOf(cells[0]) : [cells[0]];
    if (first === 'Column') {
      const [table] = codesOf(title);
      for (const column of codesOf(cells[0])) add('column', `${table}.${column}`, says);
    } else if (first === 'Signal') add('signal', `${section.heading}.${name}`, says);
    else if (header.includes('Path')) add('endpoint', `${name} ${codesOf(cells[1])[0]}`, cells[2] ?? '');
    else if (first === '#') add('rule', name, says);
    else if (first === 'Metric') add('metric', name, says);
    else if (first === 'Category') add('incident', name, says);
    else if (first === 'Action') add('action', codesOf(cells[1])[0], says);
    else if (first === 'Method') add('adapter', `${section.heading}.${name}`, says);
    else add('row', `${section.heading} / ${name}`, says);
  }
}

function addEdges(add, title, edges) {
  for (const machine of title.split(' / ')) {
    const name = /^\w+/.exec(machine)?.[0] ?? machine;
    for (const { from, to } of edges) add('edge', `${name} ${from} -> ${to}`, `${name} goes from ${from} to ${to}`);
  }
}

/** What stands in running text: tables by their bold names, unique indexes, signals, workflows, lists. */
function addLines(add, section) {
  const { heading, lines } = section;
  for (const line of lines) {
    const table = /^\*\*`(\w+)`\*\* — (.+)/.exec(line);
    if (table) add('table', table[1], table[2]);
    if (/^(?:Partial unique index|Unique constraint):/.test(line)) add('index', `${lastTable(lines, line)}`, line);
    if (line.startsWith('**Signals:** `')) for (const code of codesOf(line)) add('signal', `${heading}.${code}`, line);
    if (/^Search Attributes: /.test(line)) {
      for (const name of line.slice('Search Attributes: '.length).split(', '))
        add('attribute', `${heading}.${name}`, line);
    }
    if (/^Workflow ID: /.test(line)) add('workflow', heading, line);
    if (heading.startsWith('NATS')) addSubjects(add, line);
    if (heading === 'Notification Events') for (const code of codesOf(line)) add('event', code, line);
    const added = /^`(\w+)` adds `(\w+)`/.exec(line);
    if (added) add('state', `${added[1]}.${added[2]}`, line);
    const listed = /^(?:\*|\d+\.) (.+)/.exec(line);
    if (listed && !heading.startsWith('NATS')) add('line', `${heading} / ${listed[1].slice(0, 60)}`, listed[1]);
  }
  if (heading === 'RolloutWorkflow' || heading === 'UpgradeNodeWorkflow') {
    const told = lines.filter((line) => !line.startsWith('|')).join('\n');
    for (const [name] of told.matchAll(ACTIVITY)) add('activity', name, `${heading} calls ${name}`);
  }
}

const ACTIVITY = /\b(?:ResolveRolloutTargets|(?:Update|Finalize|Mark|Send|WaitFor|PreCheck)[A-Z]\w+)\b/g;

function addSubjects(add, line) {
  const codes = codesOf(line);
  const stem = codes.find((code) => code.startsWith('events.'))?.replace(/\.\w+$/, '');
  for (const code of codes) add('subject', code.startsWith('.') ? `${stem}${code}` : code, line);
}

/** The table that a line speaks of: the last one named before it. */
function lastTable(lines, line) {
  const before = lines.slice(0, lines.indexOf(line)).filter((one) => /^\*\*`\w+`\*\* — /.test(one));
  return codesOf(before.at(-1) ?? '')[0] ?? '?';
}
