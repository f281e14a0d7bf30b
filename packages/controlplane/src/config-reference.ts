import type { z } from 'zod';
import { DEV_SETTINGS, SECRETS, SETTINGS } from './config-schema.ts';

const HEAD = `<!-- Written by \`npm run generate\` from packages/controlplane/src/config-schema.ts; do not edit. -->
# Configuration of the control plane

Settings have the same names in the environment and in a YAML file, which \`hoodcloud --config FILE\` or \`HOODCLOUD_CONFIG\` names; the
environment wins. In the file, what takes several values by commas may be a list. A name in the file that is none ends the start with file and line.

\`\`\`yaml
# /etc/hoodcloud/control-plane.yaml
DATABASE_URL: postgres://hoodcloud@db:5432/hoodcloud
HOODCLOUD_DATABASE_PASSWORD_FILE: /run/secrets/database-password
TEMPORAL_ADDRESS: temporal:7233
HOODCLOUD_CONFIG_DIR: /etc/hoodcloud/chains
HOODCLOUD_NATS_URL: [nats://nats-1:4222, nats://nats-2:4222]
\`\`\`

Secrets stay out of environment and file alike: \`NAME_FILE\` names a file that holds nothing else, for ${SECRETS.map((name) => `\`${name}\``).join(', ')}.

\`hoodcloud config check\` reads all of it as a role would and says what is wrong, each by its name, or which values hold; \`hoodcloud config reference\`
prints this page.
`;

/** Every setting as a page of Markdown. */
export function configReference(): string {
  return [
    HEAD,
    '## Settings of every role\n',
    table(SETTINGS.shape),
    '\n## Settings of the role `dev`\n',
    'It runs from the source tree (`npm start`), decides most of the above itself, and reads the environment alone.\n',
    table(DEV_SETTINGS.shape),
    '',
  ].join('\n');
}

function table(shape: Readonly<Record<string, z.ZodType>>): string {
  const rows = Object.entries(shape).map(
    ([name, field]) => `| \`${name}\` | ${defaultOf(field)} | ${field.description ?? ''} |`,
  );
  return ['| name | default | says |', '|---|---|---|', ...rows].join('\n');
}

/** What a setting is when nothing names it. */
function defaultOf(field: z.ZodType): string {
  const empty = field.safeParse(undefined);
  if (!empty.success) return 'must be set';
  const none = empty.data === undefined || (Array.isArray(empty.data) && empty.data.length === 0);
  return none ? 'none' : `\`${String(empty.data)}\``;
}
