import Table from 'cli-table3';

/** No frame: columns two spaces apart, as in `kubectl` and `docker`, so that lines can be cut and grepped. */
const PLAIN = {
  chars: {
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
    'bottom-right': '',
    left: '',
    'left-mid': '',
    mid: '',
    'mid-mid': '',
    right: '',
    'right-mid': '',
    middle: '  ',
  },
  style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
};

/** A table of text with upper-case heads; a missing value shows as `-`. No line at all but the heads when it is empty. */
export function renderTable(heads: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const table = new Table({ ...PLAIN, head: heads.map((head) => head.toUpperCase()) });
  for (const row of rows) table.push(row.map(cell));
  const lines = table.toString().split('\n');
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

function cell(value: unknown): string {
  return value === null || value === undefined || value === '' ? '-' : String(value);
}

/** Names and values one below the other; pairs with an undefined value are left out. */
export function renderPairs(pairs: readonly (readonly [name: string, value: unknown])[]): string {
  const shown = pairs.filter(([, value]) => value !== undefined);
  const width = Math.max(...shown.map(([name]) => name.length));
  return `${shown.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`).join('\n')}\n`;
}
