import { spawn } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { checksumOf } from './file-hash.ts';
import { HostError } from './host-error.ts';
import { type Called, callProgram, plainEnvironment } from './program-call.ts';

const TIMEOUT_MS = 20_000;
const BLOCK = 512;
/** Signatures over the old content: carried to new content they would keep the kernel from running it. */
const SEALS = ['security.ima', 'security.evm'];

/** What a file has besides owner, mode and times: POSIX ACL, file capabilities, security label, user attributes. */
export interface ExtendedAttributes {
  /** Sorted, e.g. `security.capability`, `system.posix_acl_access`. */
  readonly names: readonly string[];
  /** `sha256:<hex>` of names and values. */
  readonly checksum: string;
}

/**
 * Gives `to` the owner, the mode, the ACL and all extended attributes of `from`, in this order: a change of the owner
 * drops capabilities (field-case 48). Neither content nor times change; the caller fsyncs. Node has no call for
 * extended attributes, GNU `cp` has (ADR 0012).
 * @throws HostError `attributes_unsupported` when one of them can't be kept
 */
export async function copyAttributes(from: string, to: string): Promise<void> {
  const args = ['--attributes-only', '--preserve=mode,ownership,xattr', '--', from, to];
  const { code, stderr } = await callGnu('cp', args, 'coreutils');
  if (code === 0) return;
  if (/unrecognized option/.test(stderr)) throw notGnu('cp', 'coreutils');
  throw unsupported(`owner, mode and extended attributes of ${from} can't be given to ${to}: ${firstLine(stderr)}`);
}

/**
 * Lists the extended attributes of a file as they are now, read by GNU `tar`.
 * @throws HostError `attributes_unsupported` when they can't be read
 */
export async function extendedAttributesOf(path: string): Promise<ExtendedAttributes> {
  const records = [...(await paxRecords(path))].filter(([key]) => key.startsWith('SCHILY.xattr.'));
  const entries = records.map(([key, value]): [string, string] => [key.slice('SCHILY.xattr.'.length), value]);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return { names: entries.map(([name]) => name), checksum: checksumOf(JSON.stringify(entries)) };
}

/**
 * Makes sure that what a file has can be carried to a file with other content.
 * @throws HostError `attributes_unsupported` naming the seal
 */
export function refuseSeals(path: string, { names }: ExtendedAttributes): void {
  const seal = SEALS.find((name) => names.includes(name));
  if (seal === undefined) return;
  throw unsupported(
    `${path} is sealed by ${seal}, which fits its present content only: have the new file signed by hand`,
  );
}

/** The records of the extended header that `tar` writes before the file itself; the file's content is not read on. */
function paxRecords(path: string): Promise<Map<string, string>> {
  const args = ['--create', '--format=pax', '--xattrs', '--xattrs-include=*', '--file=-'];
  return new Promise((resolve, reject) => {
    const tar = spawn('tar', [...args, '-C', dirname(path), `./${basename(path)}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      env: plainEnvironment(),
    });
    let archive = Buffer.alloc(0);
    let said = '';
    tar.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    tar.stdout.on('data', (chunk: Buffer) => {
      archive = Buffer.concat([archive, chunk]);
      if (headerEnd(archive) !== null) tar.kill();
    });
    tar.on('error', (error) => reject(isMissing(error) ? notGnu('tar', 'tar') : error));
    tar.on('close', () => {
      const end = headerEnd(archive);
      if (said === '' && end !== null) resolve(parsePax(archive.subarray(BLOCK, end)));
      else if (/unrecognized option/.test(said)) reject(notGnu('tar', 'tar'));
      else reject(unsupported(`the extended attributes of ${path} can't be read: ${firstLine(said)}`));
    });
  });
}

/** Where the extended header ends; null while it isn't there whole. A file without one has an empty one. */
function headerEnd(archive: Buffer): number | null {
  if (archive.length < BLOCK) return null;
  if (archive.toString('latin1', 156, 157) !== 'x') return BLOCK;
  const size = Number.parseInt(archive.toString('latin1', 124, 135), 8);
  return archive.length < BLOCK + size ? null : BLOCK + size;
}

/** `LENGTH KEY=VALUE\n`, the length in bytes of the whole record; values are bytes, kept as latin1. */
function parsePax(header: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < header.length; ) {
    const space = header.indexOf(' ', at);
    const length = Number.parseInt(header.toString('latin1', at, space), 10);
    const record = header.toString('latin1', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

async function callGnu(program: string, args: readonly string[], packageName: string): Promise<Called> {
  try {
    return await callProgram(program, args, AbortSignal.timeout(TIMEOUT_MS));
  } catch (error) {
    throw isMissing(error) ? notGnu(program, packageName) : error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function notGnu(program: string, packageName: string): HostError {
  return unsupported(
    `this host's ${program} is not GNU's, and no other keeps ACLs, capabilities and labels of files: install the package ${packageName}`,
  );
}

function unsupported(sentence: string): HostError {
  return new HostError('attributes_unsupported', sentence);
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
