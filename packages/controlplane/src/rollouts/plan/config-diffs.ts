import type { ConfigDiffView } from '@hoodcloud/contracts/http/rollout-plan';
import { bareSha256 } from '@hoodcloud/domain/checksum';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { TemplateError } from '../../config-rendering/go-template-renderer.ts';
import { type ConfigSource, type MaskedConfig, renderMasked } from '../../config-rendering/masked-render.ts';
import { type RenderedNode, type TemplateRenderer, templateVars } from '../../config-rendering/render-configs.ts';
import type { Db } from '../../db/database.ts';
import type { PreparedRollout } from '../prepare-rollout.ts';
import { type HostConfigs, loadHostConfigs } from './host-configs.ts';
import { WrittenConfigs } from './written-configs.ts';

/** Nodes whose files are shown line by line; the others are only compared by hash. A person reads no more. */
const MOST_NODES_SHOWN = 100;
/** Longer files are nothing that a person compares. */
const MOST_BYTES_SHOWN = 512 * 1024;
const MOST_DIFF_CHARACTERS = 64 * 1024;
/** Added and removed together; the search for the shortest diff grows with its square. */
const MOST_LINES_CHANGED = 4000;

const REMARKS = {
  unseen: 'No agent has told what stands there now, so the whole file is shown as new.',
  unknown:
    'The content that stands there now is not known here: no rollout wrote it. Only the agent can compare it; it tells which lines of its last file were edited.',
  tooLarge: 'The file is too large to be shown line by line.',
  secretsOnly: 'Nothing but secrets differs; they are not shown.',
  unmaskable: 'The file could not be rendered without its secrets, so no line of it is shown.',
  many: `Only the first ${MOST_NODES_SHOWN} nodes are compared line by line: plan with node_ids to see others.`,
} as const;

interface Wanted {
  readonly node: HostConfigs;
  readonly path: string;
  /** Of `draft.configChanges`. */
  readonly index: number;
  readonly planned: { readonly content: Uint8Array; readonly checksum: string };
}

/** What a rollout would change in the config files of its nodes, the same change once (C12, E4). */
export async function configDiffs(
  db: Db,
  renderer: TemplateRenderer,
  { draft, nodes, configs }: PreparedRollout,
): Promise<ConfigDiffView[]> {
  if (draft.configChanges.length === 0) return [];
  const eligible = nodes.filter(({ eligibility }) => eligibility.kind === 'eligible').map(({ id }) => id);
  const hosts = await loadHostConfigs(db, draft.upgrade.binary_name ?? '', eligible);
  const wanted = hosts.flatMap((node) =>
    (configs.get(node.id) ?? []).map((planned, index): Wanted => ({ node, path: planned.path, index, planned })),
  );
  const written = await WrittenConfigs.load(db, renderer, draft);
  const shown = new Set(hosts.slice(0, MOST_NODES_SHOWN).map(({ id }) => id));
  const views = await Promise.all(
    wanted.map(async (one) => viewOf(one, await lines(renderer, written, draft, one, shown.has(one.node.id)))),
  );
  return grouped(views);
}

type Lines = Pick<ConfigDiffView, 'diff' | 'remark'> & { readonly secrets: boolean };

const none = (remark: string | null): Lines => ({ diff: null, remark, secrets: false });

function changeOf({ node, path, planned }: Wanted): ConfigDiffView['change'] {
  const now = node.seen[path];
  if (now === undefined) return 'unseen';
  return bareSha256(now) === bareSha256(planned.checksum) ? 'unchanged' : 'changed';
}

async function lines(
  renderer: TemplateRenderer,
  written: WrittenConfigs,
  draft: PreparedRollout['draft'],
  wanted: Wanted,
  isShown: boolean,
): Promise<Lines> {
  const change = changeOf(wanted);
  if (change === 'unchanged') return none(null);
  if (!isShown) return none(REMARKS.many);
  if (wanted.planned.content.length > MOST_BYTES_SHOWN) return none(REMARKS.tooLarge);
  const after = sourceOf(draft, wanted);
  if (!after) return none(REMARKS.unmaskable);
  const now = wanted.node.seen[wanted.path];
  const before = now === undefined ? null : await written.find(wanted.node, wanted.path, now);
  if (change === 'changed' && !before) return none(REMARKS.unknown);
  try {
    const masked = await renderMasked(renderWith(renderer), before, after);
    const secrets = masked.before.secrets || masked.after.secrets;
    if (masked.before.text === masked.after.text) return { ...none(REMARKS.secretsOnly), secrets };
    const diff = unified(wanted.path, masked.before, masked.after);
    if (diff === null) return { ...none(REMARKS.tooLarge), secrets };
    return { diff, remark: change === 'unseen' ? REMARKS.unseen : null, secrets };
  } catch (error) {
    // a template may count on the form of a secret, which a mask has not
    if (error instanceof TemplateError) return none(REMARKS.unmaskable);
    throw error;
  }
}

function sourceOf({ configChanges, request, upgrade }: PreparedRollout['draft'], wanted: Wanted): ConfigSource | null {
  const change = configChanges[wanted.index];
  if (!change) return null;
  const rollout = {
    config_changes: [],
    chain_profile_id: request.chain_profile_id,
    binary_name: upgrade.binary_name ?? '',
    target_version: upgrade.target_version ?? '',
  };
  return { rollout, change, node: wanted.node };
}

/** Renders with overrides on top of everything that the template gets. */
function renderWith(renderer: TemplateRenderer) {
  return ({ change, rollout, node }: ConfigSource, overrides: Readonly<Record<string, string>>): Promise<string> => {
    const vars = { ...templateVars(change, rollout, node as RenderedNode), ...overrides };
    return renderer.render({ name: change.template, text: change.text, vars });
  };
}

/** Null: too much of it differs to be read. */
function unified(path: string, before: MaskedConfig, after: MaskedConfig): string | null {
  const options = { headerOptions: FILE_HEADERS_ONLY, maxEditLength: MOST_LINES_CHANGED };
  const text = createTwoFilesPatch(path, path, before.text, after.text, 'now', 'planned', options);
  return text === undefined || text.length > MOST_DIFF_CHARACTERS ? null : text;
}

/** Beside a file whose secrets are masked stands no hash of it: a weak secret could be guessed from the two. */
function viewOf(wanted: Wanted, { diff, remark, secrets }: Lines): ConfigDiffView {
  const { node, path, planned } = wanted;
  const seen = node.seen[path] ?? null;
  const last = node.written[path];
  return {
    path,
    change: changeOf(wanted),
    nodes: [{ node_id: node.id, node_name: node.name }],
    current_checksum: secrets ? null : seen,
    planned_checksum: secrets ? null : planned.checksum,
    edited_on_host: seen !== null && last !== undefined && bareSha256(last) !== bareSha256(seen),
    diff,
    remark,
  };
}

/** Nodes for which exactly the same is to be said, together; without lines to show, the hashes need not be the same. */
function grouped(views: readonly ConfigDiffView[]): ConfigDiffView[] {
  const groups = new Map<string, ConfigDiffView>();
  for (const view of views) {
    const { nodes, ...said } = view;
    const alike = said.change === 'unchanged' || said.remark === REMARKS.many;
    const shown = alike ? { ...said, current_checksum: null, planned_checksum: null } : said;
    const key = JSON.stringify(shown);
    const group = groups.get(key) ?? { ...shown, nodes: [] };
    group.nodes.push(...nodes);
    groups.set(key, group);
  }
  return [...groups.values()];
}
