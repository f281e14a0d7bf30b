import type { AnnouncedChecksum } from './announcement.ts';
import type { ImportDefectCode } from './import-defects.ts';

/** What an announced checksum is: a SHA-256, or what is wrong with it. */
export interface ChecksumReading {
  /** `sha256:<64 hex>`; null: it can't be used. Of an unnamed hash it is what the file must be proved to have. */
  readonly checksum: string | null;
  readonly defect: ImportDefectCode | null;
  readonly params: Readonly<Record<string, string>>;
}

/** Hex digits to the hash that has so many. */
const LENGTHS: Readonly<Record<number, string>> = { 32: 'MD5', 40: 'SHA-1', 96: 'SHA-384', 128: 'SHA-512' };

/**
 * Reads `sha256:<hex>`, or a hash alone where the file it stands in says that it is SHA-256. Nothing is cut, padded or taken
 * for granted: 65 digits are no SHA-256 with a typing error, and 64 digits alone may be another hash.
 * @param says the algorithm by the place it was read from; null: only the text can say so
 */
export function readAnnouncedChecksum(text: string, says: 'sha256' | null = null): ChecksumReading {
  const bad = (defect: ImportDefectCode, more: Record<string, string> = {}) => ({
    checksum: null,
    defect,
    params: { checksum: text, ...more },
  });
  const [, named, digits = ''] = /^(?:([A-Za-z0-9-]+):)?(.*)$/s.exec(text.trim()) ?? [];
  const algorithm = named?.toLowerCase() ?? says;
  if (algorithm !== null && algorithm !== 'sha256' && algorithm !== 'sha-256') {
    return bad('checksum_wrong_algorithm', { algorithm: algorithm.toUpperCase() });
  }
  const hex = /^[0-9a-f]+$/i.test(digits);
  const byLength = hex ? LENGTHS[digits.length] : undefined;
  if (byLength !== undefined) return bad('checksum_wrong_algorithm', { algorithm: `${byLength} by its length` });
  if (!hex || digits.length !== 64) {
    const length = hex ? `${digits.length}` : `${digits.length} characters, not all hex digits`;
    return bad('checksum_malformed', { length });
  }
  const checksum = `sha256:${digits.toLowerCase()}`;
  if (algorithm === null) return { checksum, defect: 'checksum_without_algorithm', params: { checksum: text } };
  if (digits !== digits.toLowerCase()) return { checksum, defect: 'checksum_upper_case', params: { checksum: text } };
  return { checksum, defect: null, params: {} };
}

/** A text that is the same for two notations of one hash; what is no SHA-256 is alike only to the letter. */
export function sameHash({ text, says }: AnnouncedChecksum): string {
  return readAnnouncedChecksum(text, says).checksum ?? text;
}
