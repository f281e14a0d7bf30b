import { type AnnouncedFile, type Announcement, asRecord, asText } from './announcement.ts';
import { type AnnouncedPlace, type ImportDefect, importDefect } from './import-defects.ts';
import { isKnownPlatform, platformInName } from './platform-name.ts';
import { isPrerelease } from './version-text.ts';

/** What is asked of a release. */
export interface ReleaseQuestion {
  /** Name of the file for messages. */
  readonly file: string;
  /** What the operator says the version is; null: the release's tag. */
  readonly targetVersion: string | null;
  /** Names of assets by platform, where the operator said so. */
  readonly assets: Readonly<Record<string, string>>;
  /** Platforms that are imported; empty: every Linux one. */
  readonly platforms: readonly string[];
}

interface Asset extends AnnouncedPlace {
  readonly name: string;
  readonly url: string;
  readonly digest: string | null;
}

/** What stands beside programs in a release and is none. */
const BESIDE =
  /\.(asc|sig|minisig|pem|crt|json|jsonl|txt|md|sbom|spdx|bundle|sigstore|sha\d+|sha\d+sum|md5|deb|rpm|apk|dmg|msi|pkg|whl|jar)$/i;

/** Reads one release as GitHub's API answers it, or `gh release view --json`. */
export function readGithubRelease(document: unknown, question: ReleaseQuestion): Announcement {
  const { file, targetVersion } = question;
  const place = { file, field: '' };
  const release = asRecord(document);
  if (release === null || !Array.isArray(release.assets)) {
    const what = Array.isArray(document) ? 'A list of releases: give one of them' : 'No release: it has no "assets"';
    return { ...NOTHING, place, defects: [importDefect('file_malformed', place, { what })] };
  }
  const tag = asText(release.tag_name) ?? asText(release.tagName);
  const version = targetVersion ?? tag;
  const { assets, defects } = readAssets(release.assets, file);
  if (version === null)
    defects.push(importDefect('version_missing', { file, field: 'tag_name' }, { name: 'the release' }));
  if ((release.draft ?? release.isDraft) === true) defects.push(importDefect('draft', { file, field: 'draft' }));
  const chosen = chooseAssets(assets, question);
  return {
    place,
    name: tag,
    version,
    prerelease: (release.prerelease ?? release.isPrerelease) === true || (version !== null && isPrerelease(version)),
    height: null,
    releasedAt: latest([release.published_at, release.publishedAt, ...release.assets.flatMap(timesOfAsset)]),
    ...chosen,
    defects: [...defects, ...chosen.defects],
  };
}

/** Files may be replaced after the release was published: then it is as old as its newest file. */
function timesOfAsset(asset: unknown): unknown[] {
  const { updated_at, updatedAt } = asRecord(asset) ?? {};
  return [updated_at, updatedAt];
}

/** The latest of some times as ISO 8601; null: none of them is one. */
function latest(times: readonly unknown[]): string | null {
  const known = times.map((time) => Date.parse(asText(time) ?? '')).filter((time) => !Number.isNaN(time));
  return known.length === 0 ? null : new Date(Math.max(...known)).toISOString();
}

const NOTHING = {
  name: null,
  version: null,
  prerelease: false,
  height: null,
  releasedAt: null,
  files: [],
  withheld: [],
};

function readAssets(values: readonly unknown[], file: string): { assets: Asset[]; defects: ImportDefect[] } {
  const assets: Asset[] = [];
  const defects: ImportDefect[] = [];
  for (const [index, value] of values.entries()) {
    const place = { file, field: `assets[${index}]` };
    const asset = asRecord(value);
    const name = asText(asset?.name);
    const url = asText(asset?.browser_download_url) ?? asText(asset?.url);
    if (name === null || url === null) {
      defects.push(importDefect('file_malformed', place, { what: 'An asset without name or address' }));
    } else {
      assets.push({ ...place, name, url, digest: asText(asset?.digest) });
    }
  }
  if (values.length === 0) defects.push(importDefect('binaries_missing', { file, field: 'assets' }));
  return { assets, defects };
}

/** One asset for each platform: by the operator's word, or the only one whose name says so. */
function chooseAssets(assets: readonly Asset[], { file, assets: named, platforms }: ReleaseQuestion) {
  const files: AnnouncedFile[] = [];
  const defects: ImportDefect[] = [];
  const withheld: string[] = [];
  for (const [platform, name] of Object.entries(named)) {
    const asset = assets.find((one) => one.name === name);
    if (asset) files.push(announced(asset, platform, assets));
    else {
      withheld.push(platform);
      defects.push(importDefect('asset_unknown', { file, field: 'assets' }, { file: name }));
    }
  }
  for (const [platform, [first, ...others]] of byPlatform(assets)) {
    if (platform in named || first === undefined) continue;
    if (others.length === 0) {
      files.push(announced(first, platform, assets));
      continue;
    }
    withheld.push(platform);
    const names = [first, ...others].map(({ name }) => name).join(', ');
    const relevant = platforms.length > 0 ? platforms.includes(platform) : platform.startsWith('linux/');
    defects.push(importDefect('asset_ambiguous', { file, field: 'assets' }, { platform, files: names }, relevant));
  }
  return { files, defects, withheld };
}

function byPlatform(assets: readonly Asset[]): Map<string, Asset[]> {
  const found = new Map<string, Asset[]>();
  for (const asset of assets) {
    const { os, arch } = platformInName(asset.name);
    const platform = `${os}/${arch}`;
    if (BESIDE.test(asset.name) || !isKnownPlatform(platform)) continue;
    found.set(platform, [...(found.get(platform) ?? []), asset]);
  }
  return found;
}

function announced(
  { file, field, url, name, digest }: Asset,
  platform: string,
  assets: readonly Asset[],
): AnnouncedFile {
  const beside = (ending: string) => assets.find((one) => one.name === `${name}${ending}`)?.url;
  const minisig = beside('.minisig');
  const bundle = beside('.sigstore.json');
  const checksum = digest === null ? null : ({ file, field: `${field}.digest`, text: digest, says: null } as const);
  return {
    file,
    field,
    platform,
    url,
    checksum,
    ...(minisig !== undefined && { signature: { format: 'minisign', url: minisig } }),
    ...(minisig === undefined && bundle !== undefined && { signature: { format: 'cosign_bundle', url: bundle } }),
  };
}
