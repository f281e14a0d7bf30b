import { bareSha256, isPrefixedSha256, isSha256 } from '../checksum.ts';
import type { RolloutRuleInput } from './rollout-rule-input.ts';
import { type Violation, violation } from './violation.ts';

/** Rule 1: a checksum is given, and is one (field-case 32). */
export function checksumGiven({ targetChecksum, artifactKind }: RolloutRuleInput): Violation[] {
  const field = 'target_binary_checksum';
  if (targetChecksum.trim() === '') {
    return [violation(1, 'checksum_missing', field, 'The checksum is empty: give the SHA-256 of the artifact.')];
  }
  // An image's checksum is judged by rule 2 alone, so that one mistake is reported once.
  if (artifactKind === 'image' || isSha256(targetChecksum)) return [];
  const message = `"${targetChecksum}" is no SHA-256: give 64 hex digits, with or without "sha256:" before them.`;
  return [violation(1, 'checksum_malformed', field, message)];
}

/** Rule 2: the checksum of an image is a digest with its prefix. */
export function imageChecksumPrefixed({ targetChecksum, artifactKind }: RolloutRuleInput): Violation[] {
  if (artifactKind !== 'image' || targetChecksum.trim() === '' || isPrefixedSha256(targetChecksum)) return [];
  const message = `"${targetChecksum}" is no image digest: give "sha256:" and 64 hex digits.`;
  return [violation(2, 'image_checksum_unprefixed', 'target_binary_checksum', message)];
}

/** Rule 3: an image is named by its digest, the one the checksum says; a tag can move. */
export function imagePinned({ targetUrl, targetChecksum, artifactKind }: RolloutRuleInput): Violation[] {
  if (artifactKind !== 'image') return [];
  const field = 'target_binary_url';
  const pinned = /@(sha256:[^@]*)$/.exec(targetUrl)?.[1];
  if (pinned === undefined || !isPrefixedSha256(pinned)) {
    const message = `"${targetUrl}" is not pinned: name the image as name@sha256:<64 hex digits>; a tag can change.`;
    return [violation(3, 'image_not_pinned', field, message)];
  }
  if (!isPrefixedSha256(targetChecksum) || bareSha256(pinned) === bareSha256(targetChecksum)) return [];
  const message = `The image is pinned to ${pinned}, but the checksum says ${targetChecksum}: they must be the same.`;
  return [violation(3, 'image_digest_mismatch', field, message)];
}
