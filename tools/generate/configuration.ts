import { writeFileSync } from 'node:fs';
import { configReference } from '@hoodcloud/controlplane/config-reference';

writeFileSync('docs/reference/configuration.md', configReference());
