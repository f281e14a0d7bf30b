/** Writes packages/contracts/openapi.json from the routes' own schemas. Nothing is connected to: the parts are only named. */
import { writeFile } from 'node:fs/promises';
import { composeFeatures, type Parts } from '@hoodcloud/controlplane/compose';
import { readConfig } from '@hoodcloud/controlplane/config';
import { openDatabase, openPool } from '@hoodcloud/controlplane/db/database';
import { openApiDocument } from '@hoodcloud/controlplane/http/openapi-document';
import { ChainFiles } from '@hoodcloud/controlplane/manifests/chain-files';
import { FileReader } from '@hoodcloud/controlplane/manifests/file-reader';

const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/none';
const config = readConfig({ DATABASE_URL, HOODCLOUD_CONFIG_DIR: '.' });
const db = openDatabase(openPool(DATABASE_URL, { max: 1, onIdleError: (error) => console.error(error.message) }));
const chains = new ChainFiles(() => config.configDir);
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const parts: Omit<Parts, 'engine'> = {
  config,
  db,
  log,
  chains,
  manifests: new FileReader(() => config.configDir),
  notifications: { listen: async () => () => undefined },
  targets: { chains, renderConfigs: async () => new Map() },
  plans: {
    renderer: { render: async () => '' },
    probeArtifact: async () => ({ state: 'not_asked', size_bytes: null, remark: null }),
  },
  chainHealth: async () => null,
  eventPublisher: null,
};
// routes never speak to the engine (B4): only relay and worker have a client
const document = await openApiDocument(composeFeatures(parts as Parts));
await writeFile(new URL('../../packages/contracts/openapi.json', import.meta.url), document);
