import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { type ImportDefect, importDefect } from '@hoodcloud/domain/release-import/import-defects';
import type { ImportedArtifact } from '@hoodcloud/domain/release-import/judge-announcement';
import { HEADER_BYTES, programPlatform } from '@hoodcloud/domain/release-import/program-header';
import type { CommandIo } from '../command-io.ts';

/** Downloads each artifact, one after the other, and tells where it is not what was announced. Nothing is kept. */
export async function verifyArtifacts(io: CommandIo, artifacts: readonly ImportedArtifact[]): Promise<ImportDefect[]> {
  const folder = await mkdtemp(join(tmpdir(), 'hoodctl-import-'));
  try {
    const defects: ImportDefect[] = [];
    for (const [index, artifact] of artifacts.entries()) {
      io.remark(`Downloading ${artifact.url}`);
      defects.push(...(await verify(io, artifact, join(folder, `${index}`))));
    }
    return defects;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function verify(io: CommandIo, artifact: ImportedArtifact, file: string): Promise<ImportDefect[]> {
  const { platform, checksum, member, announced } = artifact;
  let found: string;
  try {
    found = await download(io, artifact.url, file);
  } catch (error) {
    return [
      importDefect('download_failed', announced, { why: error instanceof Error ? error.message : String(error) }),
    ];
  }
  if (found !== checksum) return [importDefect('checksum_differs', announced, { found, checksum })];
  const start = member === null ? await startOf(file) : await startOfMember(file, member);
  if (start === null) return [importDefect('member_not_found', announced, { member: member ?? '' })];
  const built = programPlatform(start);
  if (built === platform) return [];
  return [importDefect('program_other_platform', announced, { found: built ?? 'nothing that is known', platform })];
}

/** @returns `sha256:<hex>` of what was written to the file */
async function download({ context }: CommandIo, url: string, file: string): Promise<string> {
  const answer = await context.fetch(url, { signal: context.interrupted });
  if (!answer.ok || answer.body === null) throw new Error(`the server answers ${answer.status}`);
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), hashing, createWriteStream(file));
  return `sha256:${hash.digest('hex')}`;
}

async function startOf(file: string): Promise<Uint8Array> {
  const handle = await open(file, 'r');
  try {
    const start = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await handle.read(start, 0, HEADER_BYTES, 0);
    return start.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** First bytes of a file in an archive; null: it has none of that name. Names may begin with `./` in the archive. */
async function startOfMember(archive: string, member: string): Promise<Uint8Array | null> {
  const start = await startOf(archive);
  const isZip = start[0] === 0x50 && start[1] === 0x4b;
  for (const name of [member, `./${member}`]) {
    const bytes = isZip
      ? await firstOutput('unzip', ['-p', archive, name])
      : await firstOutput('tar', ['-xOf', archive, name]);
    if (bytes.length > 0) return bytes;
  }
  return null;
}

/** The first bytes that a program writes; it is ended then. Empty: it wrote none. */
function firstOutput(program: string, args: readonly string[]): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunks.reduce((sum, { length }) => sum + length, 0) >= HEADER_BYTES) child.kill();
    });
    child.once('error', reject);
    child.once('close', () => resolve(Buffer.concat(chunks).subarray(0, HEADER_BYTES)));
  });
}
