import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULT_RUNBOOKS, INCIDENT_CATEGORIES, runbookOf } from '@hoodcloud/contracts/http/incidents';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { anchorsOf } from './documents.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** What somebody who was just woken asks, in this order. */
const QUESTIONS = [
  'What it means',
  'What has been done already',
  'Look',
  'Do',
  'When to call somebody',
  'How it ends',
].map((heading) => `## ${heading}`);

it.each(INCIDENT_CATEGORIES)('an incident of category %s has a runbook that answers every question', (category) => {
  const page = read(runbookOf(category, DEFAULT_RUNBOOKS));
  expect(page.match(/^## .+$/gm)).toEqual(QUESTIONS);
  expect(page).toContain('hoodctl incident');
  expect(read(`${DEFAULT_RUNBOOKS}/README.md`)).toContain(`(${category}.md)`);
});

interface Rule {
  readonly alert: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const alerts = parse(read('deploy/monitoring/alerts.yaml')) as { groups: { rules: Rule[] }[] };

it.each(alerts.groups.flatMap(({ rules }) => rules))('alert $alert names a runbook that is there', (rule) => {
  const [path = '', anchor] = (rule.annotations.runbook_url ?? '').split('#');
  expect(existsSync(join(ROOT, path)), path).toBe(true);
  expect(anchor).toBe(rule.alert.toLowerCase());
  expect([...anchorsOf(read(path))]).toContain(anchor);
});

it('the place of the runbooks may be an address, with or without a slash at its end', () => {
  expect(runbookOf('upgrade_failed', 'https://wiki.example.org/runbooks/')).toBe(
    'https://wiki.example.org/runbooks/upgrade_failed.md',
  );
});
