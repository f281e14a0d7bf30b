/** What a defect does to an import. */
interface DefectDefinition {
  /** Whether no manifest is made while it is there; of a platform that isn't imported it is told and stops nothing. */
  readonly stops: boolean;
  /** What is wrong, for the operator; `{name}` is a parameter. */
  readonly sentence: string;
  /** What to do about it. */
  readonly advice: string;
}

/** The closed list of what may be wrong with an announcement. Codes are stable: pipelines may tell them apart. */
export const IMPORT_DEFECTS = {
  // the file itself
  file_malformed: {
    stops: true,
    sentence: '{what}.',
    advice: 'Get the file anew, and look at it: half a download or an HTML page instead of JSON ends here.',
  },
  version_unknown: {
    stops: true,
    sentence: 'There is no version "{version}"; there are: {known}.',
    advice: "Name one of them, as the file's own `name`, `tag` or `recommended_version` has it.",
  },
  version_duplicate: {
    stops: true,
    sentence: 'Two entries are called "{version}", at {places}.',
    advice: 'Ask by a `tag` that only one of them has, or have the file mended.',
  },
  // which version it is
  version_missing: {
    stops: true,
    sentence: 'Which version "{name}" brings is not said.',
    advice: 'Give `--target-version`: what the new program itself calls its version.',
  },
  version_disputed: {
    stops: true,
    sentence: 'recommended_version is {recommended}, the tag {tag}.',
    advice: 'Find out which one the binaries are, and give it as `--target-version`.',
  },
  version_spelled_twice: {
    stops: false,
    sentence: 'recommended_version is {recommended}, the tag {tag}: the tag is taken.',
    advice: 'None is needed when nodes report the tag; otherwise give `--target-version`.',
  },
  prerelease: {
    stops: true,
    sentence: '{version} is a pre-release.',
    advice: 'Give `--allow-prerelease` when that is what you want, on a test network say.',
  },
  draft: {
    stops: true,
    sentence: 'The release is a draft: its files may still change.',
    advice: 'Wait until it is published.',
  },
  height_missing: {
    stops: false,
    sentence: 'No height is given, so the upgrade cannot wait for one.',
    advice: 'Take the height from the chain itself (`PROGRAM query upgrade plan`).',
  },
  // which files it has
  binaries_missing: {
    stops: true,
    sentence: 'No binary is named.',
    advice: 'The project announces source or images only: build the program, or write the manifest by hand.',
  },
  platform_missing: {
    stops: true,
    sentence: 'There is no file for {platform}; there are some for: {known}.',
    advice: 'Leave the platform out (`--platform`), or get a build for it elsewhere.',
  },
  platform_unknown: {
    stops: false,
    sentence: '"{platform}" is no platform that nodes run on; it is left out.',
    advice: 'Platforms are named as Go does: linux/amd64. "any" ties a file to none, so it is never taken.',
  },
  platform_mismatch: {
    stops: true,
    sentence: 'The file "{file}" is for {found} by its name, and stands under {platform}.',
    advice: 'Have the announcement mended; a node of {platform} cannot run it.',
  },
  image_only: {
    stops: true,
    sentence: '"{url}" names a container image.',
    advice: 'Write a manifest with the digest of the image by hand: an image is pinned by digest, not by a tag.',
  },
  asset_ambiguous: {
    stops: true,
    sentence: 'Several files are for {platform}: {files}.',
    advice: 'Say which one: `--asset PLATFORM=NAME`.',
  },
  asset_unknown: {
    stops: true,
    sentence: 'The release has no file "{file}".',
    advice: 'Names are to the letter; the release lists them under `assets`.',
  },
  // where they are
  url_malformed: {
    stops: true,
    sentence: '"{url}" is no web address.',
    advice: 'Have the announcement mended.',
  },
  url_not_https: {
    stops: true,
    sentence: '"{url}" is not https: whoever is on the way can see and change it.',
    advice: 'Most servers have the same file under https; have the announcement mended.',
  },
  url_shared: {
    stops: true,
    sentence: '{platform} and {other} have the same file.',
    advice:
      'One of them is wrong, unless it is an archive with a program for each: then give `--member PLATFORM=FILE` for both.',
  },
  url_other_version: {
    stops: true,
    sentence: 'The address is of release {found}, and the version is {version}.',
    advice: 'Have the announcement mended, or give `--target-version` when the address is right.',
  },
  // what they hash to
  checksum_missing: {
    stops: true,
    sentence: 'No checksum is given for {platform}.',
    advice:
      "Take it from the project's own list: `--checksums FILE`. A checksum of what was just downloaded proves nothing.",
  },
  checksum_without_algorithm: {
    stops: true,
    sentence: '"{checksum}" does not say what it is: 64 digits may be SHA-256 or another hash.',
    advice: '`--verify` downloads the file and finds out; or have "sha256:" put before it.',
  },
  checksum_wrong_algorithm: {
    stops: true,
    sentence: '"{checksum}" is {algorithm}, and only SHA-256 is taken.',
    advice: 'Look for a list of SHA-256 sums (SHA256SUMS, checksums.txt) and give it as `--checksums`.',
  },
  checksum_malformed: {
    stops: true,
    sentence: '"{checksum}" is no SHA-256: it has {length}, and a SHA-256 has 64 hex digits.',
    advice: 'Cut off or mistyped: have it mended. It is never made to fit.',
  },
  checksum_upper_case: {
    stops: false,
    sentence: '"{checksum}" is in upper case; it was taken in lower case.',
    advice: 'None is needed.',
  },
  checksum_shared: {
    stops: true,
    sentence: '{platform} and {other} have the same checksum, and different files.',
    advice: 'One was copied to the other: take both from the list of the release (`--checksums`).',
  },
  checksum_disputed: {
    stops: true,
    sentence: 'Two checksums are given for "{file}": {one} and {two}.',
    advice: 'One of the two is of another build, or somebody changed the file. Ask the project.',
  },
  checksum_line_malformed: {
    stops: false,
    sentence: 'The line "{line}" is no checksum of a file; it was left out.',
    advice: 'Forms that are read: `HASH  NAME`, `HASH *NAME`, `SHA256 (NAME) = HASH`.',
  },
  // archives
  archive_member_missing: {
    stops: true,
    sentence: '"{file}" is an archive, and which file of it is the program is not said.',
    advice: 'Give `--member FILE`, as `tar -tf` lists it.',
  },
  archive_unsupported: {
    stops: true,
    sentence: '"{file}" is no form of archive that agents unpack.',
    advice: 'Agents unpack .tar.gz, .tar.xz and .zip.',
  },
  // an on-chain plan
  plan_info_empty: {
    stops: true,
    sentence: "The plan's info is empty: the chain announces no binaries.",
    advice: 'Import from the release instead: `hoodctl import github-release`.',
  },
  plan_info_unchecked: {
    stops: true,
    sentence: "The plan's info is the address {url} without a checksum: what stands there may change after the vote.",
    advice: 'Read what stands there now, keep it as a file, and import that.',
  },
  // what --verify finds
  download_failed: {
    stops: true,
    sentence: 'The file could not be downloaded: {why}.',
    advice: 'Try again; a release that has been taken back answers 404.',
  },
  checksum_differs: {
    stops: true,
    sentence: 'What stands at the address hashes to {found}, and {checksum} was announced.',
    advice: 'The file was replaced, or the announcement is wrong. Do not go on before the project has said which.',
  },
  program_other_platform: {
    stops: true,
    sentence: 'The program is built for {found}, and stands under {platform}.',
    advice: 'Have the announcement mended; a node of {platform} cannot run it.',
  },
  member_not_found: {
    stops: true,
    sentence: 'The archive has no file "{member}".',
    advice: 'Look with `tar -tf`; the name is to the letter.',
  },
} as const satisfies Readonly<Record<string, DefectDefinition>>;

export type ImportDefectCode = keyof typeof IMPORT_DEFECTS;

/** Where in the announcement something stands. */
export interface AnnouncedPlace {
  /** The file or address that was read. */
  readonly file: string;
  /** Path of the field in it, `versions[3].binaries.linux/amd64`, or `line 7`; empty: the file as a whole. */
  readonly field: string;
}

/** One thing that is wrong with an announcement. */
export interface ImportDefect extends AnnouncedPlace {
  readonly code: ImportDefectCode;
  readonly stops: boolean;
  /** Sentence for the operator. */
  readonly message: string;
  readonly advice: string;
}

/**
 * Makes a defect.
 * @param relevant false: of a platform that isn't imported, so it is told and stops nothing
 */
export function importDefect(
  code: ImportDefectCode,
  { file, field }: AnnouncedPlace,
  params: Readonly<Record<string, string>> = {},
  relevant = true,
): ImportDefect {
  const { stops, sentence, advice } = IMPORT_DEFECTS[code];
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '?');
  return { code, stops: stops && relevant, file, field, message: filled(sentence), advice: filled(advice) };
}

/** One line a person reads: where, what, and the code. */
export function defectLine({ file, field, message, code }: ImportDefect): string {
  return `${field === '' ? file : `${file}: ${field}`}: ${message} (${code})`;
}
