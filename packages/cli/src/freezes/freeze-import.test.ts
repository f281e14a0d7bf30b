import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PutPolicyInput } from '@hoodcloud/contracts/http/policies';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runWith, type SentRequest } from '../testing/cli-run.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-calendar-'));
});
afterAll(() => rm(folder, { recursive: true }));

const event = (uid: string, ...lines: string[]) => ['BEGIN:VEVENT', `UID:${uid}`, ...lines, 'END:VEVENT'];
const PAYOUT = event('payout', 'SUMMARY:Payout week', 'DTSTART;VALUE=DATE:20260601', 'DTEND;VALUE=DATE:20260608');

async function file(...lines: string[]): Promise<string> {
  const path = join(folder, 'payouts.ics');
  await writeFile(path, ['BEGIN:VCALENDAR', 'X-WR-TIMEZONE:Europe/Berlin', ...lines, 'END:VCALENDAR'].join('\n'));
  return path;
}

/** A control plane that keeps what it is sent. */
class Policies {
  readonly kept = new Map<string, object>();

  async import(path: string, ...flags: string[]) {
    const run = await runWith((request) => this.#answer(request), 'freeze', 'import', path, ...flags);
    const sent = run.requests.filter(({ method, path }) => method !== 'GET' && !path.includes('dry_run'));
    return { ...run, sent: sent.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`) };
  }

  #answer({ method, path, body }: SentRequest) {
    const [kind = '', name = ''] = path.replace(/\?.*/, '').split('/').slice(-2);
    if (method === 'GET') return { body: { items: [...this.kept.values()], next_cursor: null } };
    if (method === 'DELETE') this.kept.delete(name);
    else if (!path.includes('dry_run')) {
      const by = { updated_at: '2026-01-01T00:00:00.000Z', updated_by: 'key:test' };
      this.kept.set(name, { kind, name, ...by, ...(body as PutPolicyInput) });
    }
    return { body: {} };
  }
}

test('events become freezes by their UID; again nothing changes, a moved one is changed, one that is gone is taken away', async () => {
  const policies = new Policies();
  const audit = event('audit', 'SUMMARY:Audit', 'DTSTART:20260701T080000Z', 'DURATION:PT4H');
  const first = await policies.import(await file(...PAYOUT, ...audit), '--label', 'customer=acme');
  expect(first.code).toBe(0);
  expect([...policies.kept.values()]).toMatchObject([
    {
      kind: 'freeze',
      managed_by: 'calendar:payouts',
      spec: {
        scope: { labels: { customer: 'acme' } },
        from: '2026-05-31T22:00:00.000Z',
        to: '2026-06-07T22:00:00.000Z',
        reason: 'Payout week',
      },
    },
    { spec: { from: '2026-07-01T08:00:00.000Z', to: '2026-07-01T12:00:00.000Z' } },
  ]);
  const [payout = '', second = ''] = [...policies.kept.keys()];

  expect((await policies.import(await file(...PAYOUT, ...audit), '--label', 'customer=acme')).sent).toEqual([]);
  const moved = PAYOUT.map((line) => line.replace('20260608', '20260610').replace('week', 'and audit'));
  expect((await policies.import(await file(...moved), '--label', 'customer=acme')).sent).toEqual([
    `PUT ${payout}`,
    `DELETE ${second}`,
  ]);
});

test('a dry run changes nothing', async () => {
  const policies = new Policies();
  const { sent, out, code } = await policies.import(await file(...PAYOUT), '--dry-run');
  expect([code, sent]).toEqual([0, []]);
  expect(out).toContain('Payout week');
});

test('a calendar that has become empty takes no freeze away unless that is meant', async () => {
  const policies = new Policies();
  await policies.import(await file(...PAYOUT));
  const emptied = await policies.import(await file());
  expect([emptied.code, emptied.sent]).toEqual([1, []]);
  expect(emptied.err).toContain('no event ahead, and 1 of its freezes stand');
  expect((await policies.import(await file(), '--allow-empty')).sent).toHaveLength(1);
});

test('a calendar with a mistake is refused by line, and nothing is sent', async () => {
  const policies = new Policies();
  const { code, err, requests } = await policies.import(await file(...PAYOUT, ...event('bad', 'DTSTART:20261340')));
  expect([code, requests]).toEqual([1, []]);
  expect(err).toContain('line 11: DTSTART "20261340" is no date and no time');
});
