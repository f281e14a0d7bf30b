import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readTextIfThere } from '../../host/read-if-there.ts';
import { RuntimeError } from '../runtime-adapter.ts';

/** What the engine hands to a registry. */
export type RegistryCredentials =
  | { readonly username: string; readonly password: string; readonly serveraddress: string }
  | { readonly identitytoken: string; readonly serveraddress: string };

/** The part of Docker's own `config.json` that is read. */
interface DockerConfig {
  readonly auths?: Readonly<Record<string, { readonly auth?: string; readonly identitytoken?: string }>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

/** Under which names `docker login` writes the credentials of Docker Hub. */
const HUB_KEYS = ['https://index.docker.io/v1/', 'index.docker.io', 'docker.io'];
const HELPER_MS = 30_000;
/** What a helper answers as user name when the secret is an identity token. */
const TOKEN_USER = '<token>';
const NOT_FOUND = /credentials not found/i;

/** Where `docker login` on this host has written, for the agent's own user. */
export function defaultDockerConfig(): string {
  return join(process.env.DOCKER_CONFIG ?? join(homedir(), '.docker'), 'config.json');
}

/**
 * The host's own credentials for a registry, as the `docker` command finds them: `credHelpers`, then `credsStore`, then
 * `auths`. Null when it has none, and then the registry is asked without.
 * @throws RuntimeError `registry_credentials` when they are there but can't be read
 */
export async function credentialsFor(registry: string, configFile: string): Promise<RegistryCredentials | null> {
  const config = await readConfig(configFile);
  const names = registry === 'docker.io' ? HUB_KEYS : [registry, `https://${registry}`, `http://${registry}`];
  for (const name of names) {
    const helper = config.credHelpers?.[name] ?? config.credsStore;
    if (helper !== undefined) {
      const found = await askHelper(helper, name);
      if (found !== null) return found;
    }
    const written = config.auths?.[name];
    if (written?.identitytoken) return { identitytoken: written.identitytoken, serveraddress: name };
    if (written?.auth) return decoded(written.auth, name, configFile);
  }
  return null;
}

async function readConfig(file: string): Promise<DockerConfig> {
  const text = await readTextIfThere(file).catch((error: unknown) => {
    throw unreadable(`${file} can't be read: ${String(error)}`, error);
  });
  if (text === null) return {};
  try {
    return JSON.parse(text) as DockerConfig;
  } catch (error) {
    throw unreadable(`${file} is no JSON: repair it, or log in again with docker login`, error);
  }
}

function decoded(auth: string, registry: string, file: string): RegistryCredentials {
  const [username, ...password] = Buffer.from(auth, 'base64').toString('utf8').split(':');
  if (username === undefined || password.length === 0) {
    throw unreadable(`the credentials of ${registry} in ${file} are not "user:password" in base64: log in again`);
  }
  return { username, password: password.join(':'), serveraddress: registry };
}

/** `docker-credential-NAME get` with the registry's name on its standard input. */
async function askHelper(helper: string, registry: string): Promise<RegistryCredentials | null> {
  const program = `docker-credential-${helper}`;
  const { failed, stdout, said } = await runHelper(program, registry);
  if (failed !== null) {
    if (NOT_FOUND.test(said)) return null;
    throw unreadable(`${program} gave no credentials for ${registry}: ${said || failed.message}`, failed);
  }
  const { Username, Secret } = JSON.parse(stdout) as { readonly Username: string; readonly Secret: string };
  if (Username === TOKEN_USER) return { identitytoken: Secret, serveraddress: registry };
  return { username: Username, password: Secret, serveraddress: registry };
}

function runHelper(
  program: string,
  registry: string,
): Promise<{ readonly failed: Error | null; readonly stdout: string; readonly said: string }> {
  return new Promise((resolve) => {
    const child = execFile(program, ['get'], { timeout: HELPER_MS }, (failed, stdout, stderr) => {
      resolve({ failed, stdout, said: `${stderr}${stdout}`.trim() });
    });
    child.stdin?.on('error', () => undefined); // a helper that ends before it has read is judged by how it ended
    child.stdin?.end(registry);
  });
}

function unreadable(sentence: string, cause?: unknown): RuntimeError {
  return new RuntimeError('registry_credentials', sentence, { cause });
}
