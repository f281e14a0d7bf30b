import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type FileAttributes, renameDurably } from '../host/atomic-file.ts';
import { requireFreeSpace } from '../host/free-space.ts';
import { unpackMember } from './archive/unpack-member.ts';
import { downloadArtifact } from './artifact-download.ts';
import { downloadText } from './download-text.ts';
import { type AcquireOptions, RuntimeError, type WantedArtifact } from './runtime-adapter.ts';
import {
  requireSigned,
  requireValidSignature,
  type SignatureDemand,
  signatureDemand,
} from './signature/require-signature.ts';

export interface Fetching {
  readonly artifact: WantedArtifact;
  /** Where the file to install lies in the end, beside the install path. */
  readonly target: string;
  readonly attributes: FileAttributes;
  readonly allowHttpHosts: readonly string[];
  /** Keys of the agent's own file; absent: the chain's decide. */
  readonly signedBy?: readonly string[];
  readonly options: Pick<AcquireOptions, 'signal' | 'onProgress'>;
}

/** Where a download lies that can't be installed yet; beside the target, so that it fills no other file system. */
export function fetchedPath(target: string): string {
  return `${target}.fetched`;
}

/**
 * Downloads an artifact, checks its signature when one is demanded and, when it is an archive, unpacks its member; only
 * what is right gets the target's name.
 * @returns `sha256:<hex>` of the file to install (A6)
 * @throws RuntimeError `artifact_unavailable` without an address, `checksum_mismatch`, `signature_missing`,
 * `signature_invalid`, and those of download and unpacking
 */
export async function fetchArtifact(fetching: Fetching): Promise<string> {
  const { artifact, target, signedBy } = fetching;
  if (artifact.url === '') {
    throw new RuntimeError(
      'artifact_unavailable',
      `no kept backup holds ${artifact.installedChecksum ?? artifact.checksum} and no address is known for it: give the address of that version`,
    );
  }
  const demand = signatureDemand(artifact, signedBy);
  const signature = demand === null ? null : await fetchSignature(fetching, demand);
  if (artifact.member === null && demand === null) {
    await download(fetching, target);
    return artifact.checksum;
  }
  const fetched = fetchedPath(target);
  try {
    await download(fetching, fetched);
    if (demand !== null && signature !== null) await requireValidSignature(fetched, artifact.url, signature, demand);
    if (artifact.member !== null) return await unpack(fetching, fetched, artifact.member);
    await renameDurably(fetched, target);
    return artifact.checksum;
  } finally {
    await rm(fetched, { force: true });
  }
}

/** The small file first: without it nothing large is fetched. */
async function fetchSignature({ artifact, allowHttpHosts, options }: Fetching, demand: SignatureDemand) {
  const { format, url } = requireSigned(artifact, demand);
  return { format, content: await downloadText({ url, allowHttpHosts, signal: options.signal }) };
}

async function download({ artifact, attributes, allowHttpHosts, options }: Fetching, target: string): Promise<void> {
  // room for the download, and for putting the old binary back beside it
  const requireSpace = (bytes: number) => requireFreeSpace(dirname(target), 2 * bytes, 4);
  const { url, checksum } = artifact;
  await downloadArtifact({ url, checksum, target, attributes, allowHttpHosts, ...options, requireSpace });
}

async function unpack({ artifact, target, attributes, options }: Fetching, archive: string, member: string) {
  const { url } = artifact;
  const requireSpace = (bytes: number) => requireFreeSpace(dirname(target), bytes, 4);
  const checksum = await unpackMember({
    archive,
    url,
    member,
    target,
    attributes,
    signal: options.signal,
    requireSpace,
  });
  if (artifact.installedChecksum === undefined || artifact.installedChecksum === checksum) return checksum;
  await rm(target, { force: true });
  throw new RuntimeError(
    'checksum_mismatch',
    `"${member}" of ${url} is ${checksum}, and this node had ${artifact.installedChecksum} of it: the archive is right, so what is recorded of the node is not`,
  );
}
