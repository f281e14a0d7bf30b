// Writes docs/crash-matrix.md from what the last whole run of the crash tier saw.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { crashPage } from './crash-pages.mjs';

writeFileSync(join(ROOT, 'docs/crash-matrix.md'), crashPage());
