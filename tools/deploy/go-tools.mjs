import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDir, findOnPath } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';
import { step } from '../bootstrap/step.mjs';

/** Tools that no Debian release has and the Go module proxy does. */
const TOOLS = {
  'docker-compose': { module: 'github.com/docker/compose/v2', program: '/cmd', version: 'v2.40.3', takes: '3-15 min' },
  kustomize: { module: 'sigs.k8s.io/kustomize/kustomize/v5', program: '', version: 'v5.7.1', takes: '40 s' },
  kubeconform: {
    module: 'github.com/yannh/kubeconform',
    program: '/cmd/kubeconform',
    version: 'v0.7.0',
    takes: '10 s',
  },
};

/**
 * A tool at exactly its version, built once a machine. A module of our own asks for it, since `go install` refuses modules
 * that replace others; the versions of all that it needs follow from its own.
 * @param {keyof typeof TOOLS} name
 * @returns {Promise<string>} path of the program
 */
export async function goTool(name) {
  const { module, program, version, takes } = TOOLS[name];
  const target = join(cacheDir(), 'bin', `${name}-${version}`);
  if (existsSync(target)) return target;
  if (!findOnPath('go'))
    throw new SetupError(`${name} is built with Go, which is not on PATH.`, 'install Go 1.26 or newer.');
  mkdirSync(join(cacheDir(), 'bin'), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-go-tool-'));
  try {
    await step(`Building ${name} ${version} with Go, once per machine`, takes, async () => {
      await go(folder, 'mod', 'init', 'hoodcloud-go-tool');
      await go(folder, 'get', `${module}${program}@${version}`);
      await go(folder, 'build', '-trimpath', '-ldflags=-s -w', '-o', join(folder, name), `${module}${program}`);
    });
    renameSync(join(folder, name), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return target;
}

async function go(cwd, ...args) {
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' };
  const { code, output } = await runCollected('go', args, { cwd, env });
  if (code !== 0)
    throw new SetupError(
      `go ${args.join(' ')} failed:\n${output.trimEnd()}`,
      'check GOPROXY and the network, then run it again.',
    );
}
