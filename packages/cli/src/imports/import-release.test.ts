import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runAgainst } from '../testing/cli-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'import-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SITE = 'https://releases.test/v2';
/** First bytes of a program for Linux: 62 is amd64, 183 arm64. */
const program = (machine: number) => Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, ...Array(11).fill(0), machine, 0]);
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** Runs `hoodctl import …` where `site` stands at the addresses. */
function run(site: Readonly<Record<string, Buffer | string>>, ...argv: string[]) {
  const answer: typeof fetch = async (input) => {
    const found = site[String(input)];
    return found === undefined ? new Response('', { status: 404 }) : new Response(new Uint8Array(Buffer.from(found)));
  };
  return runAgainst(answer, ['import', ...argv, '--chain', 'demo', '--type', 'validator', '--binary', 'demod']);
}

const asset = (name: string, more = {}) => ({ name, browser_download_url: `${SITE}/${name}`, ...more });
const AMD = program(62);
const ARM = program(183);

describe('hoodctl import github-release', () => {
  const release = file('release.json', {
    tag_name: 'v2',
    published_at: '2026-01-01T00:00:00Z',
    assets: [
      asset('demod-linux-amd64', { updated_at: '2026-01-05T00:00:00Z' }),
      asset('demod-linux-aarch64'),
      asset('demod-darwin-arm64'),
      asset('demod-linux-amd64.minisig'),
      asset('SHA256SUMS'),
    ],
  });
  const lines = (amd: string, arm: string) => `${amd}  demod-linux-amd64\nSHA256 (demod-linux-aarch64) = ${arm}\n`;
  const sums = file('SHA256SUMS', lines(sha256(AMD), sha256(ARM)));
  const site = { [`${SITE}/demod-linux-amd64`]: AMD, [`${SITE}/demod-linux-aarch64`]: ARM };
  const importIt = (here: Record<string, Buffer>, ...more: string[]) =>
    run(here, 'github-release', '--release-json', release, ...more);

  it('joins files and a list of sums, takes signatures along, and proves it by the files themselves', async () => {
    const { code, out } = await importIt(site, '--checksums', sums, '--verify');
    expect(code).toBe(0);
    expect(out).toContain(`  linux/amd64:
    url: ${SITE}/demod-linux-amd64
    # ${sums}: line 1
    checksum: sha256:${sha256(AMD)}
    signature: { format: minisign, url: "${SITE}/demod-linux-amd64.minisig" }
`);
    expect(out).toContain(`checksum: sha256:${sha256(ARM)}`);
    expect(out).toContain('released_at: 2026-01-05T00:00:00.000Z # published, or when its newest file was put there');
    expect(out).not.toContain('darwin');
  });

  it('makes no manifest without sums', async () => {
    const { code, out, err } = await importIt(site);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`✗ ${release}: assets[0]: No checksum is given for linux/amd64. (checksum_missing)`);
  });

  it('tells a program of another platform by its own header, whatever it is called', async () => {
    const swapped = { ...site, [`${SITE}/demod-linux-aarch64`]: AMD };
    const wrong = file('wrong.txt', lines(sha256(AMD), sha256(AMD)));
    const { code, err } = await importIt(swapped, '--checksums', wrong, '--verify');
    expect(code).toBe(1);
    expect(err).toContain(
      'The program is built for linux/amd64, and stands under linux/arm64. (program_other_platform)',
    );
    expect(err).toContain('(checksum_shared)');
  });

  it('tells a file that was replaced, and one that is gone', async () => {
    const replaced = { [`${SITE}/demod-linux-amd64`]: Buffer.from('evil') };
    const { code, out, err } = await importIt(replaced, '--checksums', sums, '--verify');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(
      `hashes to sha256:${sha256('evil')}, and sha256:${sha256(AMD)} was announced. (checksum_differs)`,
    );
    expect(err).toContain('The file could not be downloaded: the server answers 404. (download_failed)');
  });

  it('looks into archives, and knows a member that is not there', async () => {
    writeFileSync(join(folder, 'demod'), AMD);
    execFileSync('tar', ['-czf', join(folder, 'demo.tar.gz'), '-C', folder, './demod']);
    const archive = readFileSync(join(folder, 'demo.tar.gz'));
    const digest = `sha256:${sha256(archive)}`;
    const of = file('archive.json', { tag_name: 'v2', assets: [asset('demo_Linux_x86_64.tar.gz', { digest })] });
    const there = { [`${SITE}/demo_Linux_x86_64.tar.gz`]: archive };
    const take = (member: string) => run(there, 'github-release', '--release-json', of, '--verify', '--member', member);
    expect(await take('demod')).toMatchObject({ code: 0, out: expect.stringContaining('member: demod # by --member') });
    const { code, err } = await take('bin/demod');
    expect(code).toBe(1);
    expect(err).toContain('The archive has no file "bin/demod". (member_not_found)');
  });
});

describe('hoodctl import upgrade-plan', () => {
  const info = { binaries: { 'linux/amd64': `${SITE}/demod?checksum=sha256:${sha256(AMD)}` } };
  const manifest = expect.stringContaining(`checksum: sha256:${sha256(AMD)}`);
  const importIt = (plan: unknown, site: Record<string, string> = {}) =>
    run(site, 'upgrade-plan', '--plan', file('plan.json', plan), '--target-version', 'v2');

  it.for([
    ['the plan itself', { name: 'v2', height: '77', info: JSON.stringify(info) }],
    ['the answer of query upgrade plan', { plan: { name: 'v2', height: '77', info: JSON.stringify(info) } }],
    ['a proposal', { proposal: { messages: [{ plan: { name: 'v2', height: '77', info: JSON.stringify(info) } }] } }],
    ["Cosmovisor's upgrade-info.json, info as an object", { name: 'v2', height: 77, info }],
  ])('reads %s', async ([, plan]) => {
    const { code, out } = await importIt(plan);
    expect({ code, out }).toEqual({ code: 0, out: manifest });
    expect(out).toContain('upgrade_id: v2');
    expect(out).toContain('# Announced for block height 77.');
  });

  it('follows an address whose content the chain voted on too, and no other', async () => {
    const text = JSON.stringify(info);
    const site = { 'https://gov.test/v2.json': text };
    const plan = (query: string) => ({ name: 'v2', height: '77', info: `https://gov.test/v2.json${query}` });
    expect(await importIt(plan(`?checksum=sha256:${sha256(text)}`), site)).toMatchObject({ code: 0, out: manifest });
    const changed = await importIt(plan(`?checksum=sha256:${sha256('other')}`), site);
    expect(changed).toMatchObject({ code: 1, err: expect.stringContaining('(checksum_differs)') });
    const open = await importIt(plan(''), site);
    expect(open).toMatchObject({ code: 1, err: expect.stringContaining('(plan_info_unchecked)') });
  });

  it('does not take the name of a plan for a version', async () => {
    const plan = file('named.json', { name: 'v2', height: '77', info: JSON.stringify(info) });
    const { code, err } = await run({}, 'upgrade-plan', '--plan', plan);
    expect(code).toBe(1);
    expect(err).toContain('Which version "v2" brings is not said. (version_missing)');
  });
});

it('counts what stands in the way in whole registry files', async () => {
  const good = {
    name: 'v2',
    tag: 'v2',
    height: 1,
    binaries: { 'linux/amd64': `${SITE}/d?checksum=sha256:${sha256(AMD)}` },
  };
  const path = file('versions.json', { chain_name: 'demo', versions: [good, { name: 'v1', tag: 'v1', height: 1 }] });
  const answer: typeof fetch = async () => new Response('', { status: 404 });
  const { code, out } = await runAgainst(answer, ['import', 'check', path]);
  expect(code).toBe(1);
  expect(out).toContain('1 of 2 entries can be imported as they stand. Found: binaries_missing');
});
