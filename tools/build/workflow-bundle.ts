import { writeFileSync } from 'node:fs';
import { loadWorkflowBundle } from '@hoodcloud/controlplane/engine/workflow-bundle';

// Usage: node --import tsx tools/build/workflow-bundle.ts FILE
const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('Usage: node --import tsx tools/build/workflow-bundle.ts FILE');
writeFileSync(file, (await loadWorkflowBundle()).code);
