import { describe, expect, it, test } from 'vitest';
import type { Announcement } from './announcement.ts';
import { readChecksumList, withChecksums } from './checksum-list.ts';
import { readCosmosRegistry } from './cosmos-registry.ts';
import { readGithubRelease } from './github-release.ts';
import { defectLine, IMPORT_DEFECTS, type ImportDefect, type ImportDefectCode } from './import-defects.ts';
import { type ImportWishes, judgeAnnouncement } from './judge-announcement.ts';
import { findUpgradePlan, planAnnouncement, readPlanInfo } from './upgrade-plan.ts';

const SUM = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const WISHES: ImportWishes = { platforms: [], members: {}, allowPrerelease: false, verify: false };
const at = (name: string, sum = `sha256:${SUM}`, tag = 'v2') =>
  `https://github.com/org/demo/releases/download/${tag}/${name}${sum === '' ? '' : `?checksum=${sum}`}`;
const GOOD = { 'linux/amd64': at('demod-linux-amd64') };

/** An entry of versions.json, asked for by its name. */
function entry(more: Record<string, unknown>, wishes: Partial<ImportWishes> = {}): ImportDefect[] {
  return judged(registry([{ name: 'v2', tag: 'v2', height: 5, binaries: GOOD, ...more }]), wishes);
}

const binaries = (given: Record<string, unknown>, wishes: Partial<ImportWishes> = {}) =>
  entry({ binaries: given }, wishes);

function registry(versions: unknown, version = 'v2'): Announcement {
  return readCosmosRegistry({ versions }, { file: 'versions.json', version, targetVersion: null });
}

function judged(announcement: Announcement, wishes: Partial<ImportWishes> = {}): ImportDefect[] {
  return [...judgeAnnouncement(announcement, { ...WISHES, ...wishes }).defects];
}

const asset = (name: string, more = {}) => ({ name, browser_download_url: at(name, ''), ...more });

function release(more: Record<string, unknown>, assets: Record<string, string> = {}): Announcement {
  const document = {
    tag_name: 'v2',
    published_at: '2026-01-01T00:00:00Z',
    assets: [asset('demod-linux-amd64')],
    ...more,
  };
  return readGithubRelease(document, { file: 'release.json', targetVersion: null, assets, platforms: [] });
}

const listed = (text: string, file = 'SHA256SUMS') =>
  judged(withChecksums(release({}), [readChecksumList(text, file)]));

function plan(text: string): ImportDefect[] {
  const found = findUpgradePlan(text, 'plan.json');
  const read = readPlanInfo(found.info, found.place);
  if (read.kind === 'binaries') return judged(planAnnouncement(found, read, null));
  return read.kind === 'unusable' ? [read.defect] : [];
}

/** What only a look at the files themselves, or at another address, can tell: tested with the command. */
type Downloaded =
  | 'download_failed'
  | 'checksum_differs'
  | 'program_other_platform'
  | 'member_not_found'
  | 'plan_info_unchecked';

/** For each code: an announcement that has the defect, and the words that name what is wrong. */
const CASES: Readonly<Record<Exclude<ImportDefectCode, Downloaded>, readonly [ImportDefect[], string]>> = {
  file_malformed: [
    judged(readCosmosRegistry([], { file: 'versions.json', version: 'v2', targetVersion: null })),
    'versions.json: This is neither a versions.json',
  ],
  version_unknown: [judged(registry([{ name: 'v1', tag: 'v1.0.1' }])), 'There is no version "v2"; there are: v1'],
  version_duplicate: [
    judged(
      registry([
        { name: 'v2', tag: 'a' },
        { name: 'v2', tag: 'b' },
      ]),
    ),
    'Two entries are called "v2", at versions[0] and versions[1].',
  ],
  version_missing: [entry({ tag: undefined }), 'versions[0].tag: Which version "v2" brings is not said.'],
  version_disputed: [entry({ recommended_version: 'v2.1' }), 'recommended_version is v2.1, the tag v2.'],
  version_spelled_twice: [
    entry({ recommended_version: '2' }),
    'recommended_version is 2, the tag v2: the tag is taken.',
  ],
  prerelease: [entry({ tag: 'v2-rc1', binaries: { 'linux/amd64': at('x', undefined, 'v2-rc1') } }), 'v2-rc1 is a pre'],
  draft: [judged(release({ draft: true })), 'The release is a draft'],
  height_missing: [entry({ height: undefined }), 'versions[0].height: No height is given'],
  binaries_missing: [entry({ binaries: undefined }), 'versions[0].binaries: No binary is named.'],
  platform_missing: [
    entry({}, { platforms: ['linux/arm64'] }),
    'There is no file for linux/arm64; there are some for: linux/amd64',
  ],
  platform_unknown: [binaries({ ...GOOD, any: at('demod') }), '"any" is no platform that nodes run on'],
  platform_mismatch: [
    binaries({ 'linux/arm64': at('demod_Darwin_arm64') }),
    'The file "demod_Darwin_arm64" is for darwin/arm64 by its name, and stands under linux/arm64.',
  ],
  image_only: [binaries({ 'linux/amd64': 'ghcr.io/org/demo:v2' }), '"ghcr.io/org/demo:v2" names a container image.'],
  asset_ambiguous: [
    judged(release({ assets: [asset('demod-linux-amd64'), asset('demod-race-linux-amd64')] })),
    'Several files are for linux/amd64: demod-linux-amd64, demod-race-linux-amd64.',
  ],
  asset_unknown: [judged(release({}, { 'linux/amd64': 'nope' })), 'The release has no file "nope".'],
  url_malformed: [binaries({ 'linux/amd64': 'see the wiki' }), '"see the wiki" is no web address.'],
  url_not_https: [binaries({ 'linux/amd64': 'http://a.test/demod' }), '"http://a.test/demod" is not https'],
  url_shared: [
    binaries({ 'linux/amd64': at('demod'), 'linux/arm64': at('demod') }),
    'versions[0].binaries.linux/arm64: linux/arm64 and linux/amd64 have the same file.',
  ],
  url_other_version: [
    binaries({ 'linux/amd64': at('demod', undefined, 'v1.9') }),
    'The address is of release v1.9, and the version is v2.',
  ],
  checksum_missing: [binaries({ 'linux/amd64': at('demod', '') }), 'No checksum is given for linux/amd64.'],
  checksum_without_algorithm: [binaries({ 'linux/amd64': at('demod', SUM) }), `"${SUM}" does not say what it is`],
  checksum_wrong_algorithm: [binaries({ 'linux/amd64': at('demod', 'md5:aa') }), '"md5:aa" is MD5, and only SHA-256'],
  checksum_malformed: [
    binaries({ 'linux/amd64': at('demod', `sha256:${SUM}1`) }),
    `"sha256:${SUM}1" is no SHA-256: it has 65`,
  ],
  checksum_upper_case: [binaries({ 'linux/amd64': at('demod', `sha256:${SUM.toUpperCase()}`) }), 'is in upper case'],
  checksum_shared: [
    binaries({ 'linux/amd64': at('a'), 'linux/arm64': at('b') }),
    'linux/arm64 and linux/amd64 have the same checksum, and different files.',
  ],
  checksum_disputed: [
    listed(`${SUM}  demod-linux-amd64\n${OTHER}  demod-linux-amd64`),
    `SHA256SUMS: line 1: Two checksums are given for "demod-linux-amd64": ${SUM} and ${OTHER} (SHA256SUMS: line 2).`,
  ],
  checksum_line_malformed: [listed('<html>'), 'SHA256SUMS: line 1: The line "<html>" is no checksum of a file'],
  archive_member_missing: [
    binaries({ 'linux/amd64': at('demod.tar.gz') }),
    '"demod.tar.gz" is an archive, and which file',
  ],
  archive_unsupported: [binaries({ 'linux/amd64': at('demod.tar.zst') }), '"demod.tar.zst" is no form of archive'],
  plan_info_empty: [plan('{"name":"v2","height":"5","info":""}'), "plan.json: info: The plan's info is empty"],
};

describe('defects of announcements, each named with file and field', () => {
  test.for(Object.entries(CASES))('%s', ([code, [defects, words]]) => {
    const found = defects.filter((defect) => defect.code === code);
    expect(found).toHaveLength(1);
    expect(found.map(defectLine).join()).toContain(words);
    expect(found[0]?.stops).toBe(IMPORT_DEFECTS[code as ImportDefectCode].stops);
  });

  it('makes no artifact of a file whose checksum is not one', () => {
    for (const sum of [
      '',
      'md5:aa',
      `sha256:${SUM}1`,
      `sha256:${SUM.slice(1)}`,
      `sha512:${SUM}${SUM}`,
      `${SUM}${SUM}`,
    ]) {
      const { artifacts } = judgeAnnouncement(
        registry([{ name: 'v2', binaries: { 'linux/amd64': at('d', sum) } }]),
        WISHES,
      );
      expect(artifacts).toEqual([]);
    }
  });
});
