import { UsageError } from '../cli-error.ts';
import { type Credentials, credentialsPath, readCredentials } from './credentials-file.ts';

/** What the command line says about the connection. */
export interface ConnectionFlags {
  readonly url?: string;
  readonly apiKey?: string;
}

/**
 * Decides whom to talk to: flags win over HOODCLOUD_URL and HOODCLOUD_API_KEY, these over what `login` stored.
 * @throws UsageError naming what is missing
 */
export async function resolveConnection(
  flags: ConnectionFlags,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Credentials> {
  const url = flags.url ?? env.HOODCLOUD_URL;
  const apiKey = flags.apiKey ?? env.HOODCLOUD_API_KEY;
  if (url && apiKey) return { url: normalUrl(url), apiKey };
  const stored = await readCredentials(credentialsPath(env));
  const found = { url: url || stored?.url, apiKey: apiKey || stored?.apiKey };
  if (found.url && found.apiKey) return { url: normalUrl(found.url), apiKey: found.apiKey };
  const missing = found.url ? 'No API key is known' : 'No control plane is known';
  throw new UsageError(`${missing}: log in once, or set HOODCLOUD_URL and HOODCLOUD_API_KEY.`, {
    next: 'hoodctl login --url http://HOST:8080',
  });
}

/** The URL without a slash at its end. @throws UsageError when it isn't http(s) */
export function normalUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return url.replace(/\/+$/, '');
  throw new UsageError(`"${url}" isn't an http or https URL.`, { next: 'hoodctl login --url http://HOST:8080' });
}
