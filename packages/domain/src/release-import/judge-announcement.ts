import { readAnnouncedChecksum, sameHash } from './announced-checksum.ts';
import { type AnnouncedFile, type Announcement, fileNameOf } from './announcement.ts';
import { type ImportDefect, importDefect } from './import-defects.ts';
import { contradiction, isKnownPlatform } from './platform-name.ts';
import { bareVersion } from './version-text.ts';

/** What the operator wants of an announcement. */
export interface ImportWishes {
  /** `linux/amd64`, …; empty: every Linux platform that is announced. */
  readonly platforms: readonly string[];
  /** File of an archive by platform; `*` is for those that aren't named. */
  readonly members: Readonly<Record<string, string>>;
  readonly allowPrerelease: boolean;
  /** Whether files are downloaded and hashed, so that a hash of unsaid kind is found out. */
  readonly verify: boolean;
}

/** An artifact that goes into the manifest, and the places its values came from. */
export interface ImportedArtifact {
  readonly platform: string;
  readonly url: string;
  /** `sha256:<hex>`. */
  readonly checksum: string;
  readonly member: string | null;
  readonly announced: AnnouncedFile;
}

/** What an announcement is good for. `artifacts` are those without a defect that stops. */
export interface Judgement {
  readonly artifacts: readonly ImportedArtifact[];
  readonly defects: readonly ImportDefect[];
}

/** Compares everything that was announced with itself and with what is wanted; all that is wrong is told at once. */
export function judgeAnnouncement(announcement: Announcement, wishes: ImportWishes): Judgement {
  const { version, prerelease, place, files } = announcement;
  const wanted = wantedPlatforms(announcement, wishes);
  const defects = [...announcement.defects];
  if (prerelease && !wishes.allowPrerelease)
    defects.push(importDefect('prerelease', place, { version: version ?? '?' }));
  if (files.length > 0) defects.push(...missingPlatforms(announcement, wanted));
  const artifacts: ImportedArtifact[] = [];
  for (const file of files) {
    const relevant = wanted.includes(file.platform);
    const found = judgeFile(file, announcement, wishes, relevant);
    defects.push(...found.defects);
    if (relevant && found.artifact) artifacts.push(found.artifact);
  }
  defects.push(...twins(files, wanted, wishes));
  return { artifacts, defects };
}

function wantedPlatforms({ files }: Announcement, { platforms }: ImportWishes): readonly string[] {
  if (platforms.length > 0) return platforms;
  return [...new Set(files.map(({ platform }) => platform))].filter(
    (platform) => platform.startsWith('linux/') && isKnownPlatform(platform),
  );
}

function missingPlatforms({ files, place, withheld }: Announcement, wanted: readonly string[]): ImportDefect[] {
  const known = [...new Set(files.map(({ platform }) => platform))];
  const asked = wanted.length > 0 ? wanted : ['linux/amd64'];
  return asked
    .filter((platform) => !known.includes(platform) && !withheld.includes(platform))
    .map((platform) => importDefect('platform_missing', place, { platform, known: known.join(', ') }));
}

function judgeFile(file: AnnouncedFile, { version }: Announcement, wishes: ImportWishes, relevant: boolean) {
  const defects: ImportDefect[] = [];
  const { platform, url } = file;
  const tell = (code: Parameters<typeof importDefect>[0], params: Record<string, string> = {}) =>
    defects.push(importDefect(code, file, { platform, url, file: fileNameOf(url), ...params }, relevant));
  if (!isKnownPlatform(platform)) {
    tell('platform_unknown');
    return { defects, artifact: null };
  }
  for (const { code, params } of addressDefects(url)) tell(code, params);
  const found = contradiction(fileNameOf(url), platform);
  if (found !== null) tell('platform_mismatch', { found });
  const release = releaseInAddress(url);
  if (release !== null && version !== null && bareVersion(release) !== bareVersion(version)) {
    tell('url_other_version', { found: release, version });
  }
  const member = wishes.members[platform] ?? wishes.members['*'] ?? null;
  const archive = archiveKind(url);
  if (archive === 'unsupported') tell('archive_unsupported');
  if (archive === 'archive' && member === null) tell('archive_member_missing');
  const checksum = checksumOf(file, wishes, relevant, defects);
  const artifact =
    checksum === null ? null : { platform, url, checksum, member: archive === null ? null : member, announced: file };
  return { defects, artifact };
}

function checksumOf(
  file: AnnouncedFile,
  { verify }: ImportWishes,
  relevant: boolean,
  defects: ImportDefect[],
): string | null {
  if (file.checksum === null) {
    defects.push(importDefect('checksum_missing', file, { platform: file.platform }, relevant));
    return null;
  }
  const { text, says } = file.checksum;
  if (file.disputedBy) {
    const { text: other, file: list, field } = file.disputedBy;
    const params = { file: fileNameOf(file.url), one: text, two: `${other} (${list}: ${field})` };
    defects.push(importDefect('checksum_disputed', file.checksum, params, relevant));
    return null;
  }
  const { checksum, defect, params } = readAnnouncedChecksum(text, says);
  // the download will tell what the hash is
  const proved = defect === 'checksum_without_algorithm' && verify;
  if (defect !== null) defects.push(importDefect(defect, file.checksum, params, relevant && !proved));
  return checksum;
}

function addressDefects(
  url: string,
): { code: 'image_only' | 'url_malformed' | 'url_not_https'; params: Record<string, string> }[] {
  if (/^(docker|oci):\/\//i.test(url)) return [{ code: 'image_only', params: {} }];
  if (!URL.canParse(url)) {
    const image = /^[a-z0-9.-]+(:\d+)?(\/[\w.-]+)+(:[\w.-]+|@sha256:[0-9a-f]+)$/.test(url);
    return [{ code: image ? 'image_only' : 'url_malformed', params: {} }];
  }
  const { protocol } = new URL(url);
  if (protocol === 'https:') return [];
  return [{ code: protocol === 'http:' ? 'url_not_https' : 'url_malformed', params: {} }];
}

/** Tag of a release that GitHub and its like have in the address of a file. */
function releaseInAddress(url: string): string | null {
  const tag = /\/releases\/download\/([^/?#]+)\//.exec(url)?.[1];
  if (tag === undefined) return null;
  return /%(?![0-9a-f]{2})/i.test(tag) ? tag : decodeURIComponent(tag);
}

function archiveKind(url: string): 'archive' | 'unsupported' | null {
  const name = fileNameOf(url).toLowerCase();
  if (/\.(tar\.gz|tgz|tar\.xz|txz|zip)$/.test(name)) return 'archive';
  return /\.(tar|gz|xz|bz2|tbz|zst|lz4|7z|rar|deb|rpm|dmg|pkg)$/.test(name) ? 'unsupported' : null;
}

/** Platforms that share a file or a checksum: told once for each pair, at the second. */
function twins(files: readonly AnnouncedFile[], wanted: readonly string[], { members }: ImportWishes): ImportDefect[] {
  return files.flatMap((file, index) => {
    const before = files.slice(0, index);
    const relevant = (other: AnnouncedFile) => wanted.includes(file.platform) || wanted.includes(other.platform);
    const told = (code: 'url_shared' | 'checksum_shared', other: AnnouncedFile) =>
      importDefect(code, file, { platform: file.platform, other: other.platform }, relevant(other));
    const sameFile = before.find(({ url }) => url === file.url);
    if (sameFile) {
      const own = [file, sameFile].every(({ platform }) => members[platform] !== undefined);
      return own ? [] : [told('url_shared', sameFile)];
    }
    const hash = file.checksum && sameHash(file.checksum);
    const sameSum = before.find(({ checksum }) => checksum !== null && sameHash(checksum) === hash);
    return sameSum ? [told('checksum_shared', sameSum)] : [];
  });
}
