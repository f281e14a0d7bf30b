import { RuntimeError } from '../runtime-adapter.ts';

/** `registry/repository@sha256:…`, taken apart. */
export interface PinnedImage {
  /** `registry/repository`, as the engine's client would write it: without a tag. */
  readonly repository: string;
  readonly digest: string;
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Host of images that name none (`lighthouse` is `docker.io/library/lighthouse`). */
const DOCKER_HUB = 'docker.io';

/** Takes `name[:tag]@sha256:…` apart; null when it isn't pinned by a digest. A tag beside the digest says nothing. */
export function parsePinned(reference: string): PinnedImage | null {
  const at = reference.lastIndexOf('@');
  const digest = reference.slice(at + 1);
  if (at <= 0 || !DIGEST.test(digest)) return null;
  return { repository: withoutTag(reference.slice(0, at)), digest };
}

/** @throws RuntimeError `image_not_pinned` */
export function requirePinned(reference: string): PinnedImage {
  const pinned = parsePinned(reference);
  if (pinned !== null) return pinned;
  throw new RuntimeError(
    'image_not_pinned',
    `"${reference}" doesn't name an image by its digest: give it as name@sha256:<64 hex digits>`,
  );
}

/** `registry/name:tag` → `registry/name`; a port is no tag. */
export function withoutTag(name: string): string {
  const colon = name.lastIndexOf(':');
  return colon > name.lastIndexOf('/') ? name.slice(0, colon) : name;
}

/** The registry that an image comes from: the part before the first slash when it looks like a host. */
export function registryOf(repository: string): string {
  const [first = '', ...rest] = repository.split('/');
  const isHost = rest.length > 0 && (first.includes('.') || first.includes(':') || first === 'localhost');
  return isHost ? first : DOCKER_HUB;
}
