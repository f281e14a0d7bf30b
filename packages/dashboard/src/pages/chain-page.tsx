import type { ChainView, ManifestView } from '@hoodcloud/contracts/http/chains';
import { DASHBOARD_PATHS } from '@hoodcloud/contracts/http/dashboard-paths';
import { cooldownText, originsText, startApprovalText } from '@hoodcloud/contracts/http/view-text';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import { Anchor, Text, Title } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { useChain, useManifests } from '../api/queries.ts';
import { ChainHeight } from '../components/chain-height.tsx';
import { Facts } from '../components/facts.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Panel } from '../components/panel.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { ChangedBy } from './chains-page.tsx';

/** One chain: what its files say, how it stands, and its upgrade manifests. */
export function ChainPage() {
  const { id = '' } = useParams();
  return (
    <Loaded query={useChain(id)} what="the chain">
      {(chain) => <Whole chain={chain} />}
    </Loaded>
  );
}

function Whole({ chain }: { readonly chain: ChainView }) {
  return (
    <>
      <PageHead title={chain.chain_profile_id} />
      {chain.problems.length > 0 && <Problems of={chain.problems} />}
      <div className="two">
        <Panel title="How it stands">
          <Stand chain={chain} />
        </Panel>
        <Panel title="What is healthy">
          <Health chain={chain} />
        </Panel>
      </div>
      <Panel title="Upgrade manifests">
        <Loaded query={useManifests(chain.chain_profile_id)} what="the manifests">
          {({ items }) =>
            items.length === 0 ? (
              <Text c="dimmed">
                There is none: write upgrades/{chain.chain_profile_id}/UPGRADE.yaml into the config folder.
              </Text>
            ) : (
              <ul className="cards">
                {items.map((manifest) => (
                  <Manifest key={manifest.file} manifest={manifest} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function Stand({ chain }: { readonly chain: ChainView }) {
  const { chain_profile_id: id, nodes, nodes_online: online, active, runtime_type, two_person_approval: two } = chain;
  return (
    <Facts
      of={[
        ['Height', <ChainHeight key="height" chain={chain} />],
        [
          'Nodes',
          <Anchor key="nodes" component={Link} to={`${DASHBOARD_PATHS.fleet}?chain=${encodeURIComponent(id)}`} inherit>
            {online} of {nodes} online
          </Anchor>,
        ],
        ['Changed by', active && <ChangedBy key="active" active={active} />],
        ['Runtime', runtime_type],
        ['Node types', chain.node_types.join(', ')],
        ...chain.binaries.map(
          ({ name, artifact_kind, known_versions }) =>
            [
              name,
              `${artifact_kind}; known: ${known_versions.map(({ version }) => version).join(', ') || 'none'}`,
            ] as const,
        ),
        ['Cooldown', cooldownText(chain.trust)],
        ['Origins', originsText(chain.trust)],
        ['Before the first node', startApprovalText(chain.trust)],
        ['Breaking upgrades', two ? 'approved by a second person' : 'approved by any operator'],
      ]}
    />
  );
}

function Health({ chain: { health } }: { readonly chain: ChainView }) {
  if (health === null) return <Text c="dimmed">Its profile can’t be read, so nothing is judged.</Text>;
  const cel = (text: string | undefined) => text && <code key="cel">{text}</code>;
  const halt = health.max_block_interval_seconds;
  return (
    <Facts
      of={[
        ['Healthy', cel(health.healthy_expression)],
        ['Synced', cel(health.synced_expression)],
        ['Ready', cel(health.ready_expression)],
        ['Height metric', cel(health.height_metric)],
        ['Halted after', halt === undefined ? 'never judged' : `${renderDuration(halt * 1000)} without a block`],
        ['Watched', `${renderDuration(health.health_wait_seconds * 1000)} after an upgrade`],
        ['Crash loop', `more than ${health.max_restarts} restarts`],
      ]}
    />
  );
}

const SIGNATURES = {
  not_required: 'not required here',
  verified: 'verified',
  refused: 'refused',
} as const satisfies Record<ManifestView['signature'], string>;

function Manifest({ manifest }: { readonly manifest: ManifestView }) {
  const { upgrade, problems, signature, file, content_hash: hash, upgrade_id: id } = manifest;
  return (
    <li className="card manifest">
      <Title order={3} size="h5">
        {id}{' '}
        <StatusMark
          status={problems.length === 0 ? 'healthy' : 'failed'}
          text={problems.length === 0 ? 'usable' : 'not usable'}
        />
      </Title>
      {problems.length > 0 && <Problems of={problems} />}
      <Facts
        of={[
          ['Brings', upgrade && `${upgrade.binary_name} ${upgrade.target_version} to ${upgrade.node_type} nodes`],
          ['Migration', upgrade && migrationText(upgrade)],
          ['Recovery plan', upgrade?.recovery_plan],
          ['Configs', upgrade?.config_paths.join(', ')],
          ...Object.entries(upgrade?.artifacts ?? {}).map(
            ([platform, { url }]) => [platform === 'any' ? 'Artifact' : platform, url] as const,
          ),
          ['Signature', SIGNATURES[signature]],
          ['File', <Mono key="file" text={file} />],
          ['Content hash', <Mono key="hash" text={hash} />],
        ]}
      />
      {problems.length === 0 && (
        <Anchor
          component={Link}
          size="sm"
          to={`${DASHBOARD_PATHS.newPlan}?${new URLSearchParams({ chain: manifest.chain_profile_id, upgrade: id })}`}
        >
          Plan a rollout of {id}
        </Anchor>
      )}
    </li>
  );
}

function migrationText({ migration_type, notes }: NonNullable<ManifestView['upgrade']>): string {
  const meaning = {
    none: 'none',
    compatible: 'compatible: the old version reads what the new one wrote',
    breaking: 'breaking: canaries first, an approval, and no way back for the state',
  };
  return notes === null ? meaning[migration_type] : `${meaning[migration_type]}. ${notes}`;
}

function Mono({ text }: { readonly text: string }) {
  return <span className="mono">{text}</span>;
}

function Problems({ of }: { readonly of: readonly string[] }) {
  return (
    <ul className="problems">
      {of.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );
}
