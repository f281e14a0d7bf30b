import { type Document, LineCounter, type ParsedNode, parseAllDocuments, parseDocument } from 'yaml';
import type { z } from 'zod';

/** A file that people write is wrong; every problem names file, line and column. */
export class FileFormatError extends Error {
  readonly code = 'file_format';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'FileFormatError';
    this.problems = problems;
  }
}

/**
 * Parses YAML and checks it against a schema.
 * @param file name for messages
 * @throws FileFormatError with all problems, each as `file:line:column: what`
 */
export function parseYamlFile<Schema extends z.ZodType>(file: string, text: string, schema: Schema): z.infer<Schema> {
  const lines = new LineCounter();
  return checked({ file, lines, document: parseDocument(text, { lineCounter: lines, uniqueKeys: true }) }, schema);
}

/** One document of a file of several. */
export interface YamlPart<Value> {
  readonly value: Value;
  /** `file:line`. */
  readonly at: string;
}

/**
 * The same for a file of several documents; empty ones are left out.
 * @throws FileFormatError with the problems of all documents
 */
export function parseYamlDocuments<Schema extends z.ZodType>(
  file: string,
  text: string,
  schema: Schema,
): YamlPart<z.infer<Schema>>[] {
  const lines = new LineCounter();
  const documents = [...parseAllDocuments(text, { lineCounter: lines, uniqueKeys: true })] as Document.Parsed[];
  const problems: string[] = [];
  const parts: YamlPart<z.infer<Schema>>[] = [];
  for (const document of documents) {
    if (document.errors.length === 0 && document.contents === null) continue;
    try {
      const value = checked({ file, lines, document }, schema);
      parts.push({ value, at: `${file}:${lines.linePos(document.contents?.range[0] ?? 0).line}` });
    } catch (error) {
      if (!(error instanceof FileFormatError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new FileFormatError(problems);
  return parts;
}

interface ReadDocument {
  readonly file: string;
  readonly lines: LineCounter;
  readonly document: Document.Parsed;
}

function checked<Schema extends z.ZodType>({ file, lines, document }: ReadDocument, schema: Schema): z.infer<Schema> {
  if (document.errors.length > 0) {
    throw new FileFormatError(document.errors.map((error) => `${at(error.pos[0])}: ${error.message.split('\n')[0]}`));
  }
  const parsed = schema.safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  throw new FileFormatError(parsed.error.issues.flatMap((issue) => problemsOf(issue)));

  function at(offset: number): string {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  }

  /** Position of the deepest part of the path that exists in the file. */
  function position(path: readonly PropertyKey[], key?: string): string {
    for (let length = path.length; length >= 0; length--) {
      const parent = document.getIn(path.slice(0, length), true) as ParsedNode | undefined;
      if (key !== undefined && parent && 'items' in parent) {
        const pair = parent.items.find((item) => item && 'key' in item && String(item.key) === key);
        if (
          pair &&
          'key' in pair &&
          pair.key &&
          typeof pair.key === 'object' &&
          'range' in pair.key &&
          pair.key.range
        ) {
          return at(pair.key.range[0]);
        }
      }
      if (parent?.range) return at(parent.range[0]);
    }
    return at(0);
  }

  function problemsOf(issue: z.core.$ZodIssue): string[] {
    const where = issue.path.join('.');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => `${position(issue.path, key)}: unknown field "${[...issue.path, key].join('.')}"`);
    }
    const isMissing = issue.code === 'invalid_type' && document.getIn([...(issue.path as string[])]) === undefined;
    return [`${position(issue.path)}: ${where ? `"${where}": ` : ''}${isMissing ? 'is missing' : issue.message}`];
  }
}
