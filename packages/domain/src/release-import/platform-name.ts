const OPERATING_SYSTEMS: Readonly<Record<string, string>> = {
  linux: 'linux',
  darwin: 'darwin',
  macos: 'darwin',
  osx: 'darwin',
  apple: 'darwin',
  windows: 'windows',
  win64: 'windows',
  freebsd: 'freebsd',
};

/** Longest names first: `arm64` is no `arm`. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: 'amd64',
  'x86-64': 'amd64',
  aarch64: 'arm64',
  riscv64: 'riscv64',
  ppc64le: 'ppc64le',
  amd64: 'amd64',
  arm64: 'arm64',
  armv7: 'arm',
  armv6: 'arm',
  s390x: 's390x',
  i386: '386',
  i686: '386',
  x64: 'amd64',
  386: '386',
  arm: 'arm',
};

/** What a file's name says of what it runs on; null: nothing. */
export interface NamedPlatform {
  readonly os: string | null;
  readonly arch: string | null;
}

/** Reads a file's name as projects write them: `gaiad-v9-linux-amd64`, `lighthouse-v8-aarch64-unknown-linux-gnu.tar.gz`. */
export function platformInName(name: string): NamedPlatform {
  return { os: found(name, OPERATING_SYSTEMS), arch: found(name, ARCHITECTURES) };
}

/** As a word of the name: between anything that is neither letter nor digit. */
function found(name: string, known: Readonly<Record<string, string>>): string | null {
  const words = Object.keys(known).sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`(?:^|[^a-z0-9])(${words.join('|')})(?:v\\d+)?(?![a-z0-9])`, 'i');
  const word = pattern.exec(name)?.[1]?.toLowerCase();
  return word === undefined ? null : (known[word] ?? null);
}

const PLATFORM = /^([a-z0-9]{1,20})\/([a-z0-9]{1,20})$/;
const KNOWN_OS = new Set(Object.values(OPERATING_SYSTEMS));
const KNOWN_ARCH = new Set(Object.values(ARCHITECTURES));

/** Whether it is a platform as Go names them, of those that nodes are built for. */
export function isKnownPlatform(platform: string): boolean {
  const [, os = '', arch = ''] = PLATFORM.exec(platform) ?? [];
  return KNOWN_OS.has(os) && KNOWN_ARCH.has(arch);
}

/** What the name says that can't be of the platform, in words; null: it may be its file. */
export function contradiction(name: string, platform: string): string | null {
  const [os, arch] = platform.split('/');
  const named = platformInName(name);
  const wrong = (named.os !== null && named.os !== os) || (named.arch !== null && named.arch !== arch);
  return wrong ? [named.os, named.arch].filter((part) => part !== null).join('/') : null;
}
