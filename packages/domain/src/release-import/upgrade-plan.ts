import { type AnnouncedFile, type Announcement, asRecord, asText, splitAddress } from './announcement.ts';
import { type AnnouncedPlace, type ImportDefect, importDefect } from './import-defects.ts';
import { isPrerelease } from './version-text.ts';

/** What a chain says of its next upgrade. */
export interface UpgradePlan {
  readonly name: string | null;
  readonly height: number | null;
  /** The text of `info`: JSON, an address, or anything else that somebody proposed. */
  readonly info: string;
  readonly place: AnnouncedPlace;
}

/** Binaries that were found, and what is wrong with what was read. */
export interface PlanBinaries {
  readonly files: readonly AnnouncedFile[];
  readonly defects: readonly ImportDefect[];
}

/** What `info` leads to: binaries, another file that holds them, or nothing that can be used. */
export type PlanInfo =
  | ({ readonly kind: 'binaries' } & PlanBinaries)
  | { readonly kind: 'elsewhere'; readonly url: string; readonly checksum: string | null }
  | { readonly kind: 'unusable'; readonly defect: ImportDefect };

/**
 * Finds the plan in what chains and tools answer: a plan alone, Cosmovisor's `upgrade-info.json`, the answer of
 * `query upgrade plan`, a proposal; or the text of `info` itself.
 */
export function findUpgradePlan(text: string, file: string): UpgradePlan {
  const alone = { name: null, height: null, info: text.trim(), place: { file, field: '' } };
  const document = parsed(text);
  const whole = asRecord(document);
  if (whole === null) return typeof document === 'string' ? { ...alone, info: document.trim() } : alone;
  for (const [field, value] of candidates(whole)) {
    const plan = asRecord(value);
    if (plan === null || !('info' in plan)) continue;
    const info = typeof plan.info === 'string' ? plan.info.trim() : JSON.stringify(plan.info ?? '');
    const at = field === '' ? 'info' : `${field}.info`;
    return { name: asText(plan.name), height: heightOf(plan.height), info, place: { file, field: at } };
  }
  return alone;
}

function candidates(whole: Readonly<Record<string, unknown>>): (readonly [field: string, value: unknown])[] {
  const proposal = asRecord(whole.proposal) ?? whole;
  const before = proposal === whole ? '' : 'proposal.';
  const messages = Array.isArray(proposal.messages) ? proposal.messages : [];
  return [
    ['', whole],
    ['plan', whole.plan],
    ...messages.map((message, index) => [`${before}messages[${index}].plan`, asRecord(message)?.plan] as const),
    [`${before}content.plan`, asRecord(proposal.content)?.plan],
  ];
}

/** Chains write whole numbers of 64 bits as text. */
function heightOf(value: unknown): number | null {
  const height = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof height === 'number' && Number.isInteger(height) && height > 0 ? height : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // `info` may be an address, or any text: the caller says what is wrong with it
  }
}

/** Reads `info`, or the file it names, as Cosmovisor does: `{"binaries": {"linux/amd64": "https://…?checksum=sha256:…"}}`. */
export function readPlanInfo(info: string, place: AnnouncedPlace): PlanInfo {
  if (info === '' || info === '""') return { kind: 'unusable', defect: importDefect('plan_info_empty', place) };
  if (/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(info)) return { kind: 'elsewhere', ...splitAddress(info) };
  const binaries = asRecord(asRecord(parsed(info))?.binaries);
  if (binaries === null) {
    const what = `Neither JSON with "binaries" nor an address: "${info.slice(0, 60)}"`;
    return { kind: 'unusable', defect: importDefect('file_malformed', place, { what }) };
  }
  return { kind: 'binaries', ...readBinaries(binaries, { ...place, field: joined(place.field, 'binaries') }) };
}

/** Files of a map from platform to address, the checksum in the address. */
export function readBinaries(
  binaries: Readonly<Record<string, unknown>>,
  { file, field }: AnnouncedPlace,
): PlanBinaries {
  const files: AnnouncedFile[] = [];
  const defects: ImportDefect[] = [];
  for (const [platform, address] of Object.entries(binaries)) {
    const place = { file, field: `${field}.${platform}` };
    if (typeof address === 'string') {
      const { url, checksum } = splitAddress(address.trim());
      files.push({
        ...place,
        platform,
        url,
        checksum: checksum === null ? null : { ...place, text: checksum, says: null },
      });
    } else {
      defects.push(importDefect('file_malformed', place, { what: 'An address must be text' }));
    }
  }
  if (files.length === 0 && defects.length === 0) defects.push(importDefect('binaries_missing', { file, field }));
  return { files, defects };
}

function joined(field: string, name: string): string {
  return field === '' ? name : `${field}.${name}`;
}

/** The announcement of a plan and what its info led to; which version the binaries are only a person can say. */
export function planAnnouncement(
  { name, height, place }: UpgradePlan,
  read: PlanBinaries,
  targetVersion: string | null,
): Announcement {
  const defects = [...read.defects];
  if (targetVersion === null) defects.push(importDefect('version_missing', place, { name: name ?? 'the plan' }));
  if (height === null) defects.push(importDefect('height_missing', place));
  const prerelease = targetVersion !== null && isPrerelease(targetVersion);
  return {
    place,
    name,
    version: targetVersion,
    prerelease,
    height,
    releasedAt: null,
    files: read.files,
    withheld: [],
    defects,
  };
}
