import type { PlannedArtifactView } from '@hoodcloud/contracts/http/rollout-plan';
import type { TargetArtifacts } from '@hoodcloud/domain/target-artifact';
import type { RolloutDraft } from '../rollout-draft.ts';
import { targetArtifacts } from '../target-artifacts.ts';

/** What an address answered. */
export type ArtifactProbe = Pick<PlannedArtifactView, 'state' | 'size_bytes' | 'remark'>;

/** Asks an address for the head of an artifact. */
export type ProbeArtifact = (url: string) => Promise<ArtifactProbe>;

const notAsked = (remark: string): ArtifactProbe => ({ state: 'not_asked', size_bytes: null, remark });

/**
 * Asks for every artifact of a rollout.
 * @param mayName the caller may create rollouts; else an address that the request itself gives is not asked, so that nobody
 *   who may only look can make the control plane talk to addresses of his choice
 */
export async function artifactChecks(
  probe: ProbeArtifact,
  { upgrade, request, artifactKind }: RolloutDraft,
  mayName: boolean,
): Promise<PlannedArtifactView[]> {
  const artifacts = named(targetArtifacts(upgrade));
  const ask = async (url: string): Promise<ArtifactProbe> => {
    if (artifactKind === 'image')
      return notAsked('An image is pulled by the host from its registry; its digest pins it.');
    if (request.upgrade_id === undefined && !mayName)
      return notAsked(
        'The address stands in the request, not in a manifest: it is asked only for who may create rollouts.',
      );
    return probe(url);
  };
  return Promise.all(
    artifacts.map(async ({ platform, url, checksum }) => ({ platform, url, checksum, ...(await ask(url)) })),
  );
}

function named(targets: TargetArtifacts): { platform: string | null; url: string; checksum: string }[] {
  if (targets.kind === 'by_platform') {
    return Object.entries(targets.artifacts).map(([platform, { url, checksum }]) => ({ platform, url, checksum }));
  }
  const { url, checksum } = targets.artifact;
  return url === '' ? [] : [{ platform: null, url, checksum }];
}
