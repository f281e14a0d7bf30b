import { stat } from 'node:fs/promises';
import type { FileAttributes } from '../../host/atomic-file.ts';
import { explainingHostErrors } from '../../host/host-error.ts';
import { partBeside, writePartFile } from '../../host/part-file.ts';
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
  return explainingHostErrors(`unpack ${job.member} to ${partBeside(job.target)}`, () =>
    writePartFile(job.target, job.attributes, async (file) => {
      const member = new MemberFile(file, job);
      await readMember(job, member);
      return member.checksum();
    }),
  );
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
