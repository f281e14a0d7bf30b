import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';

/** The documents' pictures of the dashboard; only `npm run screenshots` writes them. */
const IN_DOCUMENTS = resolve(import.meta.dirname, '../../docs/images');
/** Where to write instead, as PNG, for looking at them; nowhere when left out. */
const FOLDER = process.env.HOODCLOUD_SCREENSHOTS;
const WRITES_DOCUMENTS = process.env.HOODCLOUD_WRITE_SCREENSHOTS === '1';
/** Of what is longer the rest is cut off: a picture shows what a page is, not all of its rows. */
const MOST_PIXELS = 2400;

/**
 * Takes a picture of a page for who asked for pictures; else it costs nothing.
 * @param options `whole`: also what is below the window
 */
export async function screenshot(
  page: Page,
  name: string,
  { whole = true }: { readonly whole?: boolean } = {},
): Promise<void> {
  if (FOLDER) await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: whole });
  if (!WRITES_DOCUMENTS) return;
  await mkdir(IN_DOCUMENTS, { recursive: true });
  await writeFile(join(IN_DOCUMENTS, `${name}.webp`), await webp(page, whole));
}

/** As WebP, half as large as PNG; Playwright knows PNG and JPEG only. */
async function webp(page: Page, whole: boolean): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { cssContentSize, cssLayoutViewport: seen } = await session.send('Page.getLayoutMetrics');
  const height = whole ? Math.min(cssContentSize.height, MOST_PIXELS) : seen.clientHeight;
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 78,
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width: cssContentSize.width, height, scale: 1 },
  });
  await session.detach();
  return Buffer.from(data, 'base64');
}

/** Names of the pictures that the documents have. */
export function documentedScreenshots(): readonly string[] {
  return readdirSync(IN_DOCUMENTS)
    .filter((file) => file.endsWith('.webp'))
    .map((file) => file.replace(/\.webp$/, ''))
    .sort();
}
