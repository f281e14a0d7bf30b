import type { ArtifactSignature } from '../target-artifact.ts';
import type { AnnouncedPlace, ImportDefect } from './import-defects.ts';

/** A file that an announcement names for a platform; texts as they were announced. */
export interface AnnouncedFile extends AnnouncedPlace {
  readonly platform: string;
  /** Without the `checksum` that may have stood in it. */
  readonly url: string;
  readonly checksum: AnnouncedChecksum | null;
  /** Another checksum that was given for it and differs: neither is taken. */
  readonly disputedBy?: AnnouncedChecksum;
  /** A detached signature that is announced beside it. */
  readonly signature?: ArtifactSignature;
}

/** A checksum as announced, and where. */
export interface AnnouncedChecksum extends AnnouncedPlace {
  readonly text: string;
  /** Whether the place itself says that it is SHA-256, as the name `SHA256SUMS` does. */
  readonly says: 'sha256' | null;
}

/** What was read of a version, whoever announced it. */
export interface Announcement {
  readonly place: AnnouncedPlace;
  /** What the upgrade is called; null: not said. */
  readonly name: string | null;
  /** Null: not said, or disputed. */
  readonly version: string | null;
  readonly prerelease: boolean;
  /** Block height of the chain; null: not said. */
  readonly height: number | null;
  /** ISO 8601; null: not said. */
  readonly releasedAt: string | null;
  readonly files: readonly AnnouncedFile[];
  /** Platforms that have files, and none could be chosen; a defect says why. */
  readonly withheld: readonly string[];
  readonly defects: readonly ImportDefect[];
}

/** Takes `?checksum=…` out of an address: go-getter's parameter, which is not for the server. */
export function splitAddress(address: string): { readonly url: string; readonly checksum: string | null } {
  const [, before = address, query] = /^([^?#]*)\?([^#]*)/.exec(address) ?? [];
  if (query === undefined) return { url: address, checksum: null };
  const parts = query.split('&');
  const given = parts.find((part) => part.startsWith('checksum='));
  const rest = parts.filter((part) => !part.startsWith('checksum='));
  if (given === undefined) return { url: address, checksum: null };
  const url = rest.length === 0 ? before : `${before}?${rest.join('&')}`;
  return { url, checksum: decoded(given.slice('checksum='.length)) };
}

/** The text itself where its percent signs mean nothing: it is told as it stands. */
function decoded(text: string): string {
  return /%(?![0-9a-f]{2})/i.test(text) ? text : decodeURIComponent(text);
}

/** Last part of an address, without its query: the file's name. */
export function fileNameOf(url: string): string {
  const path = url.split(/[?#]/)[0] ?? url;
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A value as an object; null when it is none. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

/** A value as text that says something; null when it is none. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
