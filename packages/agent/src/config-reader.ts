import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { AgentError } from './agent-error.ts';

/** A place in a YAML file that knows its own name and line. */
export interface Place {
  readonly node: Node | null;
  /** `components[0].runtime.unit` */
  readonly field: string;
  /** @throws AgentError `invalid_config` with file, line, field and `why` */
  readonly fail: (why: string) => never;
  readonly at: (node: Node | null, field: string) => Place;
}

export type Read<T> = (place: Place) => T;

interface Field<T> {
  readonly read: Read<T>;
  /** What stands there when the field is absent; undefined: the field is required. */
  readonly fallback?: () => T;
}

/** Parses a YAML text and reads its root. */
export function readYaml<T>(file: string, text: string, read: Read<T>): T {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const [error] = document.errors;
  if (error !== undefined) throw invalid(`${file}:${error.linePos?.[0].line ?? 1}`, error.message.split('\n')[0] ?? '');
  const at = (node: Node | null, field: string): Place => ({
    node,
    field,
    at,
    fail: (why) => {
      const line = node?.range ? lines.linePos(node.range[0]).line : 1;
      throw invalid(`${file}:${line}`, field === '' ? why : `${field}: ${why}`);
    },
  });
  return read(at(document.contents, ''));
}

/** A field that must be there. */
export function required<T>(read: Read<T>): Field<T> {
  return { read };
}

/** A field that may be absent. */
export function optional<T, D>(read: Read<T>, fallback: D): Field<T | D> {
  return { read, fallback: () => fallback };
}

/** A map with exactly these fields; others are taken for typos. */
export function object<T extends object>(fields: { readonly [K in keyof T]: Field<T[K]> }): Read<T> {
  return (place) => {
    if (!isMap(place.node)) return place.fail(`a map with ${Object.keys(fields).join(', ')} is wanted`);
    const found = new Map<string, Node | null>();
    for (const pair of place.node.items as Pair<Node, Node | null>[]) {
      const name = isScalar(pair.key) ? String(pair.key.value) : '';
      if (!(name in fields)) place.at(pair.key, inside(place, name)).fail(unknownField(Object.keys(fields)));
      found.set(name, pair.value);
    }
    const values = Object.entries<Field<unknown>>(fields).map(([name, field]) => {
      const node = found.get(name);
      if (node !== undefined) return [name, field.read(place.at(node, inside(place, name)))];
      if (field.fallback === undefined) return place.fail(`the field ${inside(place, name)} is missing`);
      return [name, field.fallback()];
    });
    return Object.fromEntries(values) as T;
  };
}

export const text: Read<string> = (place) => {
  if (isScalar(place.node) && typeof place.node.value === 'string' && place.node.value !== '') return place.node.value;
  return place.fail('a text is wanted');
};

export const flag: Read<boolean> = (place) => {
  if (isScalar(place.node) && typeof place.node.value === 'boolean') return place.node.value;
  return place.fail('true or false is wanted');
};

/** A whole number from `least` to `most`. */
export function integer(least: number, most: number): Read<number> {
  return (place) => {
    const value = isScalar(place.node) ? place.node.value : null;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    return place.fail(`a whole number from ${least} to ${most} is wanted`);
  };
}

/** A text that matches; `what` says it to people. */
export function matching(pattern: RegExp, what: string): Read<string> {
  return (place) => {
    const value = text(place);
    return pattern.test(value) ? value : place.fail(`${what} is wanted, not "${value}"`);
  };
}

export const absolutePath = matching(/^\/(?!.*\/\.\.?(\/|$)).*[^/]$/, 'an absolute path without "." and ".."');

export function listOf<T>(read: Read<T>): Read<T[]> {
  return (place) => {
    if (!isSeq(place.node)) return place.fail('a list is wanted');
    return (place.node.items as Node[]).map((node, index) => read(place.at(node, `${place.field}[${index}]`)));
  };
}

/** A map of free names to texts; numbers are taken as they are written. */
export const textMap: Read<Record<string, string>> = (place) => {
  if (!isMap(place.node)) return place.fail('a map is wanted');
  const entries = (place.node.items as Pair<Node, Node | null>[]).map(({ key, value }) => {
    if (!isScalar(key) || !isScalar(value)) return place.fail('only texts and numbers are wanted in it');
    return [String(key.value), String(value.value)];
  });
  return Object.fromEntries(entries);
};

/** Reads a map by what one of its fields says. */
export function byType<T>(field: string, kinds: { readonly [kind: string]: Read<T> }): Read<T> {
  return (place) => {
    const node = isMap(place.node) ? place.node.get(field, true) : undefined;
    const kind = isScalar(node) ? String(node.value) : '';
    const read = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    if (read !== undefined) return read(place);
    const wanted = `${inside(place, field)} must be one of ${Object.keys(kinds).join(', ')}`;
    return place.at((node as Node | undefined) ?? place.node, '').fail(wanted);
  };
}

function unknownField(known: readonly string[]): string {
  return `there is no such field; known are ${known.join(', ')}`;
}

function inside(place: Place, name: string): string {
  return place.field === '' ? name : `${place.field}.${name}`;
}

function invalid(where: string, why: string): AgentError {
  return new AgentError('invalid_config', `${where}: ${why}`);
}
