import { type Announcement, asRecord, asText } from './announcement.ts';
import { type AnnouncedPlace, type ImportDefect, importDefect } from './import-defects.ts';
import { readBinaries } from './upgrade-plan.ts';
import { bareVersion, isPrerelease } from './version-text.ts';

/** What is asked of a registry file. */
export interface RegistryQuestion {
  /** Name of the file for messages. */
  readonly file: string;
  /** `name`, `tag` or `recommended_version` of the entry. */
  readonly version: string;
  /** What the operator says the version is; null: the file's own word. */
  readonly targetVersion: string | null;
}

interface Entry {
  readonly value: Readonly<Record<string, unknown>>;
  readonly field: string;
}

/**
 * Reads one version of the Cosmos chain registry: `versions.json` with its list, or `chain.json`, whose `codebase` is the
 * version of now.
 */
export function readCosmosRegistry(document: unknown, question: RegistryQuestion): Announcement {
  const { file, version } = question;
  const place = (field: string): AnnouncedPlace => ({ file, field });
  const entries = entriesOf(document);
  if (entries === null) {
    const what = 'This is neither a versions.json ("versions") nor a chain.json ("codebase")';
    return nothing(place(''), [importDefect('file_malformed', place(''), { what })]);
  }
  const named = entries.filter(({ value }) => value.name === version);
  const found = named.length > 0 ? named : entries.filter(({ value }) => spellings(value).includes(version));
  const [entry] = found;
  if (entry === undefined) {
    const known = entries.map(({ value }) => asText(value.name) ?? spellings(value)[0] ?? '?').join(', ');
    return nothing(place('versions'), [importDefect('version_unknown', place('versions'), { version, known })]);
  }
  if (found.length > 1) {
    const places = found.map(({ field }) => field).join(' and ');
    return nothing(place(entry.field), [importDefect('version_duplicate', place(entry.field), { version, places })]);
  }
  return announced(entry, question);
}

/** What the entries of a registry file are called, in its order; each once. */
export function entryNames(document: unknown): readonly string[] {
  const entries = entriesOf(document) ?? [];
  return [...new Set(entries.flatMap(({ value }) => [asText(value.name) ?? spellings(value)[0] ?? []].flat()))];
}

function entriesOf(document: unknown): Entry[] | null {
  const whole = asRecord(document);
  if (whole === null) return null;
  if (Array.isArray(whole.versions)) {
    return whole.versions.map((value, index) => ({ value: asRecord(value) ?? {}, field: `versions[${index}]` }));
  }
  const codebase = asRecord(whole.codebase);
  return codebase && [{ value: codebase, field: 'codebase' }];
}

function spellings({ tag, recommended_version }: Entry['value']): string[] {
  return [asText(tag), asText(recommended_version)].filter((one) => one !== null);
}

function announced({ value, field }: Entry, { file, targetVersion }: RegistryQuestion): Announcement {
  const at = (name: string): AnnouncedPlace => ({ file, field: `${field}.${name}` });
  const name = asText(value.name);
  const { version, defects } = versionOf(value, at, targetVersion);
  const height = typeof value.height === 'number' && value.height > 0 ? value.height : null;
  if (height === null) defects.push(importDefect('height_missing', at('height')));
  const { files, defects: wrong } = readBinaries(asRecord(value.binaries) ?? {}, at('binaries'));
  return {
    place: { file, field },
    name: name ?? version,
    version,
    prerelease: version !== null && isPrerelease(version),
    height,
    releasedAt: null,
    files,
    withheld: [],
    defects: [...defects, ...wrong],
  };
}

/** The version that the binaries are; a person's word settles what the file leaves open. */
function versionOf(
  value: Entry['value'],
  at: (name: string) => AnnouncedPlace,
  wanted: string | null,
): { version: string | null; defects: ImportDefect[] } {
  const tag = asText(value.tag);
  const recommended = asText(value.recommended_version);
  if (wanted !== null) return { version: wanted, defects: [] };
  if (tag === null && recommended === null) {
    return {
      version: null,
      defects: [importDefect('version_missing', at('tag'), { name: asText(value.name) ?? '?' })],
    };
  }
  if (tag === null || recommended === null || tag === recommended) return { version: tag ?? recommended, defects: [] };
  const params = { tag, recommended };
  if (bareVersion(tag) === bareVersion(recommended)) {
    return { version: tag, defects: [importDefect('version_spelled_twice', at('recommended_version'), params)] };
  }
  return { version: null, defects: [importDefect('version_disputed', at('recommended_version'), params)] };
}

function nothing(place: AnnouncedPlace, defects: readonly ImportDefect[]): Announcement {
  return {
    place,
    name: null,
    version: null,
    prerelease: false,
    height: null,
    releasedAt: null,
    files: [],
    withheld: [],
    defects,
  };
}
