import { checksumsText, configText } from '@hoodcloud/contracts/http/plan-text';
import type { ConfigDiffView } from '@hoodcloud/contracts/http/rollout-plan';
import { Text } from '@mantine/core';

/** What becomes of each config file, line by line where that is known; secrets were masked by the server. */
export function ConfigDiffs({ diffs }: { readonly diffs: readonly ConfigDiffView[] }) {
  if (diffs.length === 0) return <Text c="dimmed">No config file changes.</Text>;
  return (
    <ul className="plan-list">
      {diffs.map((view) => (
        <li key={`${view.path} ${view.nodes[0]?.node_id}`}>
          <Text size="sm">{configText(view)}</Text>
          {view.remark !== null && (
            <Text size="sm" c="dimmed">
              {view.remark}
            </Text>
          )}
          {view.diff === null ? <Checksums view={view} /> : <Lines view={view} diff={view.diff} />}
        </li>
      ))}
    </ul>
  );
}

function Checksums({ view }: { readonly view: ConfigDiffView }) {
  const text = checksumsText(view);
  return text === null ? null : <Text className="mono">{text}</Text>;
}

function Lines({ view, diff }: { readonly view: ConfigDiffView; readonly diff: string }) {
  const lines = diff
    .trimEnd()
    .split('\n')
    .map((text, index) => ({ key: `${index}`, text, kind: kindOf(text) }));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className="diff" tabIndex={0} aria-label={`Diff of ${view.path} on ${view.nodes[0]?.node_name}`}>
      {lines.map(({ key, text, kind }) => (
        <div key={key} data-line={kind}>
          {text === '' ? ' ' : text}
        </div>
      ))}
    </section>
  );
}

function kindOf(line: string): 'head' | 'added' | 'removed' | 'same' {
  if (/^(---|\+\+\+|@@)/.test(line)) return 'head';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : 'same';
}
