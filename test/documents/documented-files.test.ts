import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadAgentConfig } from '@hoodcloud/agent/agent-config';
import { runWith } from '@hoodcloud/cli/testing/cli-run';
import { notificationChannelsSchema } from '@hoodcloud/contracts/files/notification-channels';
import { parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import { createRolloutGroupSchema } from '@hoodcloud/contracts/http/rollout-groups';
import { SETTINGS } from '@hoodcloud/controlplane/config-schema';
import { ChainFiles } from '@hoodcloud/controlplane/manifests/chain-files';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { blocksOf, pages } from './documents.ts';

/** A whole file in a page begins with its path; what stands for a value the reader has is filled in here. */
const FILE = /^# ([\w./-]+\.yaml)\b/;
const filled = (text: string) => text.replace(/sha256:[0-9a-f]*…(?:64 hex digits)?/g, `sha256:${'a'.repeat(64)}`);

const folder = mkdtempSync(join(tmpdir(), 'documented-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads the file as the program does that it is for; throws what that program would tell. */
const READERS: readonly [name: RegExp, read: (path: string, text: string) => Promise<unknown>][] = [
  [/^upgrades\/[^/]+\/[^/]+$/, lint],
  [/^[^/]+\/profile\.yaml$/, (path) => new ChainFiles(() => folder).profile(dirname(path))],
  [/^[^/]+\/runtime\.yaml$/, (path) => new ChainFiles(() => folder).runtime(dirname(path))],
  [/agent\.yaml$/, (path) => loadAgentConfig(join(folder, path))],
  [/group\.yaml$/, async (path, text) => parseYamlFile(path, text, createRolloutGroupSchema)],
  [/control-plane\.yaml$/, async (_, text) => knownSettings(text)],
  [/notifications\.yaml$/, async (path, text) => parseYamlFile(path, text, notificationChannelsSchema)],
];

async function lint(path: string): Promise<void> {
  const { code, out } = await runWith(() => null, 'manifest', 'lint', join(folder, path));
  if (code !== 0) throw new Error(out);
}

/** Its values lead to secrets that are nowhere here, so only the names are judged. */
function knownSettings(text: string): void {
  const names = Object.keys(parse(text) as object).map((name) => name.replace(/_FILE$/, ''));
  expect(Object.keys(SETTINGS.shape)).toEqual(expect.arrayContaining(names));
}

const files = pages().flatMap((page) =>
  blocksOf(page.text)
    .filter(({ language, text }) => language === 'yaml' && FILE.test(text))
    .map(({ text, line }) => ({
      at: `${page.path}:${line}`,
      path: (FILE.exec(text)?.[1] ?? '').replace(/^\//, ''),
      text,
    })),
);

it.each(files)('$path in $at is a file that its program takes', async ({ path, text }) => {
  const read = READERS.find(([name]) => name.test(path))?.[1];
  if (read === undefined) throw new Error(`nobody reads ${path}: say in test/documents who does`);
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), filled(text));
  await read(path, filled(text));
});

it('a whole manifest in a page says which file it is', () => {
  const nameless = pages().flatMap((page) =>
    blocksOf(page.text)
      .filter(({ text }) => /^upgrade_id:/m.test(text) && /^target_version:/m.test(text) && !FILE.test(text))
      .map(({ line }) => `${page.path}:${line}`),
  );
  expect(nameless).toEqual([]);
});
