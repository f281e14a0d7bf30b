import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { goTool } from '../deploy/go-tools.mjs';
import { findWrongManifests } from '../deploy/kubernetes-manifests.mjs';

const COMPOSE_FILES = [['compose.yaml'], ['compose.yaml', 'compose.stand-ins.yaml']];

/** `check:deploy`: the compose files by Docker Compose itself, the Kubernetes manifests by kustomize and kubeconform. */
export async function run() {
  const complaint = (await findWrongComposeFiles()) ?? (await findWrongManifests());
  if (complaint !== undefined) {
    console.error(complaint.trimEnd());
    return 1;
  }
  console.log('✓ compose files and Kubernetes manifests');
  return 0;
}

async function findWrongComposeFiles() {
  const compose = await goTool('docker-compose');
  for (const files of COMPOSE_FILES) {
    const flags = files.flatMap((file) => ['-f', join(ROOT, 'deploy', file)]);
    const { code, output } = await runCollected(compose, [...flags, '--profile', 'monitoring', 'config', '--quiet']);
    if (code !== 0) return `${files.join(' + ')}:\n${output}`;
    if (output.trim() !== '') return `${files.join(' + ')}: ${output}`;
    console.log(`  ${files.join(' + ')}: valid`);
  }
  return undefined;
}
