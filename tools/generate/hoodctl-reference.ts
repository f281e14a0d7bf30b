import { mkdirSync, writeFileSync } from 'node:fs';
import { commandReference } from '@hoodcloud/cli/reference/command-reference';

mkdirSync('docs/reference', { recursive: true });
writeFileSync('docs/reference/hoodctl.md', commandReference());
