import { resolve } from 'node:path';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Debian's; nothing is downloaded. */
const PROGRAM = '/usr/bin/chromium';

/** As `npm run build:dashboard` leaves it; vitest's set-up has just built it. */
export const DASHBOARD = resolve(import.meta.dirname, '../../dist/dashboard');

export const DESKTOP = { width: 1280, height: 860 };
export const PHONE = { width: 375, height: 812 };

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export interface SignedIn {
  readonly page: Page;
  /** Console errors, errors of scripts, refusals of the page's policy, and requests to anybody but its own origin. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** A fresh tab that is signed in as a person is: the key typed into the form. */
export async function signIn(
  browser: Browser,
  { url, key }: { readonly url: string; readonly key: string },
  look: { readonly scheme: 'light' | 'dark'; readonly size: typeof DESKTOP },
): Promise<SignedIn> {
  const context = await browser.newContext({ colorScheme: look.scheme, viewport: look.size, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) complaints.push(`asked ${request.url()}`);
  });
  await page.goto(url);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor();
  return { page, complaints, close: () => context.close() };
}

/**
 * What axe finds against WCAG 2 AA and its own good practice: each as rule, help and where.
 * @param rules `colours`: of a page that is looked at in other colours, what colours can break
 */
export async function accessibilityViolations(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  const only = rules === 'all' ? '' : `, runOnly: ['color-contrast', 'link-in-text-block']`;
  await page.evaluate(axe.source); // by the debugger's way in: the page's policy refuses foreign scripts
  const found = await page.evaluate<{ id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[]>(
    `axe.run(document, { resultTypes: ["violations"]${only} }).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary?.slice(0, 300)}`),
  );
}
