import type { Announcement } from '@hoodcloud/domain/release-import/announcement';
import type { AnnouncedPlace } from '@hoodcloud/domain/release-import/import-defects';
import type { ImportedArtifact } from '@hoodcloud/domain/release-import/judge-announcement';
import { stringify } from 'yaml';

/** What an announcement can't know: the operator says it. */
export interface ManifestNames {
  readonly upgradeId: string;
  readonly chain: string;
  readonly nodeType: string;
  readonly binary: string;
}

/** A manifest in words of its schema, each value with a comment that says where it came from. */
export function manifestYaml(
  announcement: Announcement,
  artifacts: readonly ImportedArtifact[],
  names: ManifestNames,
): string {
  const { place, version, height, releasedAt } = announcement;
  const lines = [
    `# Made by "hoodctl import" from ${where(place)}.`,
    ...(height === null ? [] : [`# Announced for block height ${height}.`]),
    line('upgrade_id', names.upgradeId),
    line('chain_profile_id', names.chain),
    line('node_type', names.nodeType),
    line('binary_name', names.binary),
    line('target_version', version),
    releasedAt === null
      ? '# released_at is not in the announcement: a cooldown counts from when a rollout first names these files.'
      : `${line('released_at', releasedAt)} # published, or when its newest file was put there`,
    'artifacts:',
    ...artifacts.flatMap(artifactLines),
    '# Not in the announcement: whether the old version reads what the new one wrote. Say so before you use this.',
    '# state_compatibility: { migration_type: none | compatible | breaking }',
  ];
  return `${lines.join('\n')}\n`;
}

function artifactLines({ platform, url, checksum, member, announced }: ImportedArtifact): string[] {
  const given = announced.checksum;
  return [
    `  # ${where(announced)}`,
    `  ${platform}:`,
    `    ${line('url', url)}`,
    ...(given && where(given) !== where(announced) ? [`    # ${where(given)}`] : []),
    `    ${line('checksum', checksum)}`,
    ...(member === null ? [] : [`    ${line('member', member)} # by --member`]),
    ...(announced.signature
      ? [`    signature: { format: ${announced.signature.format}, url: ${JSON.stringify(announced.signature.url)} }`]
      : []),
  ];
}

function where({ file, field }: AnnouncedPlace): string {
  return field === '' ? file : `${file}: ${field}`;
}

function line(name: string, value: unknown): string {
  return stringify({ [name]: value }, { lineWidth: 0 }).trimEnd();
}
