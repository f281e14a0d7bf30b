import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { HostLabError } from '../host-lab/lab-command.ts';

/** What an image says of itself: the `config` of the OCI image specification, as far as tests use it. */
export interface ImageConfig {
  readonly Cmd?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Env?: readonly string[];
  readonly Labels?: Readonly<Record<string, string>>;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly Volumes?: Readonly<Record<string, object>>;
  readonly WorkingDir?: string;
  readonly User?: string;
  readonly StopSignal?: string;
  readonly Healthcheck?: { readonly Test: readonly string[]; readonly Interval?: number; readonly Timeout?: number };
}

export interface TestImage {
  /** Uncompressed tar archives, lowest first. */
  readonly layers: readonly Buffer[];
  readonly config: ImageConfig;
  /** As in an image's platform; this machine's when left out. */
  readonly architecture?: string;
}

/** A registry to push to: `host:port` and, when it asks for them, the credentials. */
export interface RegistryTarget {
  readonly address: string;
  readonly credentials?: { readonly username: string; readonly password: string };
}

const TYPES = {
  manifest: 'application/vnd.docker.distribution.manifest.v2+json',
  list: 'application/vnd.docker.distribution.manifest.list.v2+json',
  config: 'application/vnd.docker.container.image.v1+json',
  layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
} as const;

interface Descriptor {
  readonly mediaType: string;
  readonly size: number;
  readonly digest: string;
}

const compressed = new Map<Buffer, Buffer>();

/**
 * Makes an image and pushes it, with neither an engine nor a client: the same content has the same digest in each run.
 * @param name repository and tag, such as `app:v1`
 * @returns `registry/repository@sha256:…`
 */
export async function pushImage(registry: RegistryTarget, name: string, image: TestImage): Promise<string> {
  const push = new Push(registry, name);
  return push.reference((await push.image(image)).digest);
}

/** Pushes one image per architecture under one name, as publishers do; answers the reference of the list. */
export async function pushImageList(
  registry: RegistryTarget,
  name: string,
  images: readonly TestImage[],
): Promise<string> {
  const push = new Push(registry, name);
  const manifests = [];
  for (const image of images) {
    const descriptor = await push.image(image);
    manifests.push({ ...descriptor, platform: { architecture: architectureOf(image), os: 'linux' } });
  }
  const list = await push.manifest(TYPES.list, { schemaVersion: 2, mediaType: TYPES.list, manifests });
  return push.reference(list.digest);
}

class Push {
  readonly #base: string;
  readonly #repository: string;
  readonly #tag: string;
  readonly #registry: RegistryTarget;

  constructor(registry: RegistryTarget, name: string) {
    const [repository = '', tag = 'latest'] = name.split(':');
    this.#registry = registry;
    this.#repository = repository;
    this.#tag = tag;
    this.#base = `http://${registry.address}/v2/${repository}`;
  }

  reference(digest: string): string {
    return `${this.#registry.address}/${this.#repository}@${digest}`;
  }

  async image(image: TestImage): Promise<Descriptor> {
    const layers = [];
    for (const layer of image.layers) layers.push(await this.#blob(TYPES.layer, gzipped(layer)));
    const history = image.layers.map(() => ({ created: EPOCH, created_by: 'test image' }));
    const config = await this.#blob(
      TYPES.config,
      json({
        ...{ architecture: architectureOf(image), os: 'linux', created: EPOCH, config: image.config, history },
        rootfs: { type: 'layers', diff_ids: image.layers.map(digestOf) },
      }),
    );
    return this.manifest(TYPES.manifest, { schemaVersion: 2, mediaType: TYPES.manifest, config, layers });
  }

  async manifest(mediaType: string, content: object): Promise<Descriptor> {
    const body = json(content);
    await this.#call('PUT', `${this.#base}/manifests/${this.#tag}`, 201, { body, type: mediaType });
    return { mediaType, size: body.length, digest: digestOf(body) };
  }

  async #blob(mediaType: string, body: Buffer): Promise<Descriptor> {
    const digest = digestOf(body);
    const opened = await this.#call('POST', `${this.#base}/blobs/uploads/`, 202);
    const upload = new URL(opened.headers.get('location') ?? '', this.#base);
    upload.searchParams.set('digest', digest);
    await this.#call('PUT', upload.href, 201, { body, type: 'application/octet-stream' });
    return { mediaType, size: body.length, digest };
  }

  async #call(method: string, url: string, expected: number, sent?: { body: Buffer; type: string }): Promise<Response> {
    const { credentials } = this.#registry;
    const headers: Record<string, string> = {};
    if (sent !== undefined) headers['content-type'] = sent.type;
    if (credentials !== undefined) {
      const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
      headers.authorization = `Basic ${pair}`;
    }
    const response = await fetch(url, { method, headers, body: sent === undefined ? null : new Uint8Array(sent.body) });
    if (response.status === expected) return response;
    throw new HostLabError(`registry: ${method} ${url} answered ${response.status}: ${await response.text()}`);
  }
}

const EPOCH = '1970-01-01T00:00:00Z';

function architectureOf(image: TestImage): string {
  return image.architecture ?? (process.arch === 'x64' ? 'amd64' : process.arch);
}

function gzipped(layer: Buffer): Buffer {
  const known = compressed.get(layer);
  if (known !== undefined) return known;
  const made = gzipSync(layer);
  compressed.set(layer, made);
  return made;
}

function json(content: object): Buffer {
  return Buffer.from(JSON.stringify(content));
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
