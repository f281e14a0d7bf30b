import { stringify } from 'yaml';

export const OUTPUT_FORMATS = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** What a command shows: the value for machines as the API gave it, and the text for people. */
export function renderOutput<Value>(format: OutputFormat, value: Value, text: (value: Value) => string): string {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  if (format === 'yaml') return stringify(value);
  return text(value);
}
