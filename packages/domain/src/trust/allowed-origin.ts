/** Where artifacts may come from: a server, and the folder on it below which they must be. */
interface AllowedOrigin {
  /** `https://github.com`, or the registry of images as `image://ghcr.io`; with the port when it is not the usual one. */
  readonly server: string;
  /** Parts of the path that come first, compared whole: `cosmos` is not `cosmos-evil`. */
  readonly folder: readonly string[];
}

/** What an address names: a file on a server, or an image in a registry. */
type Address = AllowedOrigin;

const DOCKER_HUB = 'docker.io';

/**
 * Reads an entry of `trust.allowed_origins`: `https://github.com/cosmos/gaia`, or without a scheme `ghcr.io/sigp`, which is
 * https for files and a registry for images. Null: it is neither.
 */
export function parseAllowedOrigin(text: string): readonly AllowedOrigin[] | null {
  if (/[\s?#@\\]/.test(text)) return null;
  if (text.includes('://')) {
    const address = fileAddress(text);
    return address && [address];
  }
  const file = /^[a-z0-9.-]+(:\d+)?(\/|$)/i.test(text) ? fileAddress(`https://${text}`) : null;
  return file && [file, { ...file, server: file.server.replace('https://', 'image://') }];
}

/**
 * Whether an artifact comes from one of the origins. Servers and whole parts of the path are compared, never the beginnings
 * of texts: `https://github.com.evil.test` is not `https://github.com`. An address that can't be read, or that steps out of
 * its folder, comes from nowhere.
 */
export function isAllowedOrigin(address: string, kind: 'file' | 'image', origins: readonly string[]): boolean {
  const named = kind === 'image' ? imageAddress(address) : fileAddress(address);
  if (named === null) return false;
  return origins
    .flatMap((text) => parseAllowedOrigin(text) ?? [])
    .some(({ server, folder }) => server === named.server && folder.every((part, at) => named.folder[at] === part));
}

function fileAddress(text: string): Address | null {
  if (!URL.canParse(text)) return null;
  const { protocol, host, pathname, username, password } = new URL(text);
  if ((protocol !== 'https:' && protocol !== 'http:') || username !== '' || password !== '') return null;
  const folder = pathname.split('/').slice(1);
  if (folder.at(-1) === '') folder.pop();
  return folder.some(climbs) ? null : { server: `${protocol}//${host}`, folder };
}

/** Whether a server that decodes more often than it should would leave the folder at this part. */
function climbs(part: string): boolean {
  let text = part;
  for (let times = 0; times < 3; times++) {
    if (text.split(/[/\\]/).some((name) => name === '..' || name === '.')) return true;
    if (!/%[0-9a-f]{2}/i.test(text)) return false;
    text = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return /%[0-9a-f]{2}/i.test(text);
}

/** `sigp/lighthouse@sha256:…` is Docker Hub's, as Docker reads it: a registry has a dot, a port, or is localhost. */
function imageAddress(text: string): Address | null {
  const [name = ''] = text.split('@');
  const parts = name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) return null;
  const [first = '', ...rest] = parts;
  const isRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const folder = isRegistry ? rest : parts.length === 1 ? ['library', ...parts] : parts;
  const last = folder.at(-1)?.replace(/:[^:]*$/, '') ?? '';
  return { server: `image://${isRegistry ? first.toLowerCase() : DOCKER_HUB}`, folder: [...folder.slice(0, -1), last] };
}
