import { access, constants, open } from 'node:fs/promises';
import { errnoOf } from '../agent-error.ts';
import { RuntimeError } from './runtime-adapter.ts';

/** e_machine of the ELF specification by Node's name of the architecture. */
const MACHINES: Readonly<Record<string, number>> = {
  x64: 0x3e,
  arm64: 0xb7,
  ia32: 0x03,
  arm: 0x28,
  riscv64: 0xf3,
  ppc64: 0x15,
  s390x: 0x16,
};
const PT_INTERP = 3;

/**
 * Checks, without running it, that this host can run the file (A10): a Linux executable for this processor whose
 * dynamic loader is installed, on a file system that allows execution.
 *
 * Scripts are refused: what runs then is the interpreter, so that nothing could prove which version runs (A6).
 * @throws RuntimeError `wrong_platform`, `not_executable`
 */
export async function requireExecutable(path: string, architecture: string = process.arch): Promise<void> {
  const file = await open(path, 'r');
  try {
    const header = Buffer.alloc(64);
    const { bytesRead } = await file.read(header, 0, header.length, 0);
    requireElf(header.subarray(0, bytesRead), architecture);
    const loader = await interpreterOf(header, async (length, position) => {
      const bytes = Buffer.alloc(length);
      await file.read(bytes, 0, length, position);
      return bytes;
    });
    if (loader !== null && !(await isThere(loader))) {
      throw new RuntimeError(
        'not_executable',
        `the new binary needs the loader ${loader}, which this host doesn't have: it was built for another distribution`,
      );
    }
  } finally {
    await file.close();
  }
  await requireExecutableMount(path);
}

function requireElf(header: Buffer, architecture: string): void {
  if (header.subarray(0, 2).toString('latin1') === '#!') {
    throw new RuntimeError(
      'not_executable',
      'the new artifact is a script: it must be a binary, since nothing proves which version an interpreter runs',
    );
  }
  const foreign = foreignPlatform(header);
  if (foreign !== null)
    throw new RuntimeError('wrong_platform', `the new binary is built for ${foreign}, not for Linux`);
  if (header.length < 64 || header.readUInt32BE(0) !== 0x7f454c46) {
    throw new RuntimeError(
      'not_executable',
      'the new artifact is not an executable (no ELF header): is the address that of a web page or of an archive?',
    );
  }
  const machine = isLittleEndian(header) ? header.readUInt16LE(18) : header.readUInt16BE(18);
  if (machine !== MACHINES[architecture]) {
    const name = Object.keys(MACHINES).find((key) => MACHINES[key] === machine) ?? `machine type ${machine}`;
    throw new RuntimeError('wrong_platform', `the new binary is built for ${name}, this host is ${architecture}`);
  }
}

function foreignPlatform(header: Buffer): string | null {
  if (header.subarray(0, 2).toString('latin1') === 'MZ') return 'Windows';
  const machO = [0xcffaedfe, 0xfeedfacf, 0xcafebabe, 0xcefaedfe];
  return header.length >= 4 && machO.includes(header.readUInt32BE(0)) ? 'macOS' : null;
}

/** Path in the PT_INTERP segment of a 64-bit little-endian file; null for static and other files. */
async function interpreterOf(
  header: Buffer,
  readAt: (length: number, position: number) => Promise<Buffer>,
): Promise<string | null> {
  if (header[4] !== 2 || !isLittleEndian(header)) return null;
  const entrySize = header.readUInt16LE(54);
  const entries = header.readUInt16LE(56);
  const table = await readAt(entrySize * entries, Number(header.readBigUInt64LE(32)));
  for (let at = 0; at + 56 <= table.length; at += entrySize) {
    if (table.readUInt32LE(at) !== PT_INTERP) continue;
    const size = Math.min(Number(table.readBigUInt64LE(at + 32)), 4096);
    const name = await readAt(size, Number(table.readBigUInt64LE(at + 8)));
    return name.toString('utf8').replace(/\0.*$/s, '');
  }
  return null;
}

function isLittleEndian(header: Buffer): boolean {
  return header[5] === 1;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** The kernel answers EACCES for X_OK on a `noexec` mount, for root too. */
async function requireExecutableMount(path: string): Promise<void> {
  try {
    await access(path, constants.X_OK);
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error;
    throw new RuntimeError(
      'not_executable',
      `${path} may not be executed: its mode has no x bit or its file system is mounted noexec`,
      { cause: error },
    );
  }
}
