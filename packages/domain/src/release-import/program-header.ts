/** Architectures of an ELF header's `e_machine`, as Go names them. */
const MACHINES: Readonly<Record<number, string>> = {
  3: '386',
  40: 'arm',
  62: 'amd64',
  183: 'arm64',
  243: 'riscv64',
  22: 's390x',
  21: 'ppc64le',
};

/** How many bytes of a program say what it is built for. */
export const HEADER_BYTES = 20;

/**
 * What a program is built for, by its first bytes: `linux/amd64`, `darwin`, `windows`; null: it is no program that
 * anybody knows, a page with an error say. ELF does not say Linux: others that use it aren't told apart.
 */
export function programPlatform(start: Uint8Array): string | null {
  const begins = (...bytes: readonly number[]) => bytes.every((byte, index) => start[index] === byte);
  if (begins(0x7f, 0x45, 0x4c, 0x46)) {
    const [low = 0, high = 0] = start.slice(18, 20);
    const machine = start[5] === 2 ? low * 256 + high : high * 256 + low;
    return `linux/${MACHINES[machine] ?? `machine ${machine}`}`;
  }
  if (begins(0xcf, 0xfa, 0xed, 0xfe) || begins(0xca, 0xfe, 0xba, 0xbe)) return 'darwin';
  return begins(0x4d, 0x5a) ? 'windows' : null;
}
