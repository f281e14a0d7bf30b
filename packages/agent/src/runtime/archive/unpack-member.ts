import { open, rm, stat } from 'node:fs/promises';
import { applyAttributes, type FileAttributes, renameDurably } from '../../host/atomic-file.ts';
import { explainingHostErrors } from '../../host/host-error.ts';
import { archiveFormat } from './archive-format.ts';
import { MemberFile } from './member-file.ts';
import { readTarMember } from './tar-member.ts';
import { readZipMember } from './zip-member.ts';

export interface Unpacking {
  readonly archive: string;
  /** Where it came from, for messages. */
  readonly url: string;
  readonly member: string;
  /** Gets its name only when the member is whole; until then its bytes are in `{target}.part`. */
  readonly target: string;
  readonly attributes: FileAttributes;
  readonly signal: AbortSignal;
  readonly requireSpace: (bytes: number) => Promise<void>;
}

/**
 * Unpacks the named member of a `.tar.gz`, `.tar.xz` or `.zip` and nothing else (A11): to a path of ours, hashed while it
 * is written, with our owner and mode. Nothing is left behind by a failure.
 * @returns `sha256:<hex>` of the member, which is what is compared from then on (A6)
 * @throws RuntimeError `archive_unsupported`, `archive_refused`, `member_missing`; HostError `disk_full`
 */
export async function unpackMember(job: Unpacking): Promise<string> {
  const part = `${job.target}.part`;
  return explainingHostErrors(`unpack ${job.member} to ${part}`, async () => {
    await rm(part, { force: true });
    const file = await open(part, 'wx', 0o600);
    let checksum: string;
    try {
      const member = new MemberFile(file, job);
      await readMember(job, member);
      checksum = member.checksum();
      await applyAttributes(file, job.attributes);
      await file.sync();
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    await renameDurably(part, job.target);
    return checksum;
  });
}

async function readMember({ archive: path, url, member, signal }: Unpacking, into: MemberFile): Promise<void> {
  const archive = { path, url, member, signal, sizeBytes: (await stat(path)).size };
  switch (await archiveFormat(path, url)) {
    case 'tar.gz':
      return readTarMember(archive, 'gz', into);
    case 'tar.xz':
      return readTarMember(archive, 'xz', into);
    case 'zip':
      return readZipMember(archive, into);
  }
}
