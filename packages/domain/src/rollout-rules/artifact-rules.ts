import { bareSha256, isPrefixedSha256, isSha256 } from '../checksum.ts';
import type { RolloutRuleInput, RuledArtifact } from './rollout-rule-input.ts';
import { type Violation, violation } from './violation.ts';

const checksumField = ({ field }: RuledArtifact) => (field === null ? 'target_binary_checksum' : `${field}.checksum`);
const urlField = ({ field }: RuledArtifact) => (field === null ? 'target_binary_url' : `${field}.url`);

/** Rule 1: a checksum is given, and is one (field-case 32). */
export function checksumGiven({ artifacts, artifactKind }: RolloutRuleInput): Violation[] {
  return artifacts.flatMap((artifact) => {
    const { checksum } = artifact;
    const field = checksumField(artifact);
    if (checksum.trim() === '') {
      return [violation(1, 'checksum_missing', field, 'The checksum is empty: give the SHA-256 of the artifact.')];
    }
    // An image's checksum is judged by rule 2 alone, so that one mistake is reported once.
    if (artifactKind === 'image' || isSha256(checksum)) return [];
    const message = `"${checksum}" is no SHA-256: give 64 hex digits, with or without "sha256:" before them.`;
    return [violation(1, 'checksum_malformed', field, message)];
  });
}

/** Rule 2: the checksum of an image is a digest with its prefix. */
export function imageChecksumPrefixed({ artifacts, artifactKind }: RolloutRuleInput): Violation[] {
  if (artifactKind !== 'image') return [];
  return artifacts
    .filter(({ checksum }) => checksum.trim() !== '' && !isPrefixedSha256(checksum))
    .map((artifact) => {
      const message = `"${artifact.checksum}" is no image digest: give "sha256:" and 64 hex digits.`;
      return violation(2, 'image_checksum_unprefixed', checksumField(artifact), message);
    });
}

/** Rule 3: an image is named by its digest, the one the checksum says; a tag can move. */
export function imagePinned({ artifacts, artifactKind }: RolloutRuleInput): Violation[] {
  if (artifactKind !== 'image') return [];
  return artifacts.flatMap((artifact) => {
    const { url, checksum } = artifact;
    const field = urlField(artifact);
    const pinned = /@(sha256:[^@]*)$/.exec(url)?.[1];
    if (pinned === undefined || !isPrefixedSha256(pinned)) {
      const message = `"${url}" is not pinned: name the image as name@sha256:<64 hex digits>; a tag can change.`;
      return [violation(3, 'image_not_pinned', field, message)];
    }
    if (!isPrefixedSha256(checksum) || bareSha256(pinned) === bareSha256(checksum)) return [];
    const message = `The image is pinned to ${pinned}, but the checksum says ${checksum}: they must be the same.`;
    return [violation(3, 'image_digest_mismatch', field, message)];
  });
}
