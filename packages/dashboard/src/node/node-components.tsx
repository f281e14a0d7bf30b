import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import { Text } from '@mantine/core';
import { Facts } from '../components/facts.tsx';
import { StatusMark } from '../components/status-mark.tsx';

type Component = NodeView['components'][number];

const CONFIG_STATES = {
  as_written: ['healthy', 'as written'],
  edited: ['degraded', 'edited on the host'],
  missing: ['down', 'not there'],
} as const satisfies Record<Component['configs'][number]['state'], readonly [string, string]>;

/** What runs on the node: the hash of what runs, what is installed, and whether its configs are as rollouts wrote them (E4). */
export function NodeComponents({ node: { components } }: { readonly node: NodeView }) {
  if (components.length === 0) return <Text c="dimmed">Its agent has reported none yet.</Text>;
  return components.map((part) => (
    <Facts
      key={part.binary_name}
      of={[
        [part.binary_name, `${part.binary_version ?? 'unknown version'} (known from: ${part.version_source})`],
        ['Runtime', part.runtime_type],
        ['Process', part.active ? `running${part.main_pid === null ? '' : `, pid ${part.main_pid}`}` : 'stopped'],
        ['Restarts', part.restarts],
        ['Says of itself', part.reported_version],
        ['Running', part.running_checksum && <Hash key="running" of={part.running_checksum} />],
        ['Installed', installedText(part)],
        ['Configs', part.configs.length > 0 && <Configs key="configs" of={part.configs} />],
      ]}
    />
  ));
}

function installedText({ installed_checksum: installed, running_checksum: running }: Component) {
  if (installed === null) return null;
  if (installed === running) return 'the same';
  return (
    <>
      another one: <Hash of={installed} />
    </>
  );
}

function Hash({ of }: { readonly of: string }) {
  return <span className="mono">{of}</span>;
}

function Configs({ of }: { readonly of: Component['configs'] }) {
  return of.map(({ path, state }) => {
    const [status, text] = CONFIG_STATES[state];
    return (
      <div key={path}>
        <StatusMark status={status} text={text} /> <span className="mono">{path}</span>
      </div>
    );
  });
}
