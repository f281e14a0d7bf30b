import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';

/** Whether this work tree has what the generator starts from. */
export const isApplicable = (generator) => existsSync(join(ROOT, generator.needs));

/** Runs one generator in the work tree; throws with its output when it fails. */
export async function runGenerator({ name, command, cwd = '.' }, root = ROOT) {
  const [program, ...args] = command;
  const { code, output } = await runCollected(program, args, { cwd: join(root, cwd) });
  if (code !== 0) throw new Error(`The generator "${name}" (${command.join(' ')}) failed:\n${output.trimEnd()}`);
}

/**
 * Runs a generator and puts the work tree back as it was.
 * @returns {Promise<string[]>} the files whose content would change, appear or vanish
 */
export async function staleFiles(generator, root = ROOT) {
  const before = readOutputs(root, generator.outputs);
  try {
    await runGenerator(generator, root);
    const after = readOutputs(root, generator.outputs);
    const names = [...new Set([...before.keys(), ...after.keys()])].sort();
    return names.filter((name) => !sameBytes(before.get(name), after.get(name)));
  } finally {
    restore(root, generator.outputs, before);
  }
}

/** @returns {Map<string, Buffer>} path relative to `root` → content */
function readOutputs(root, outputs) {
  const files = new Map();
  const visit = (path) => {
    if (!existsSync(path)) return;
    if (statSync(path).isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
    else files.set(relative(root, path), readFileSync(path));
  };
  for (const output of outputs) visit(join(root, output));
  return files;
}

function restore(root, outputs, before) {
  for (const name of readOutputs(root, outputs).keys()) if (!before.has(name)) rmSync(join(root, name));
  for (const [name, content] of before) {
    const path = join(root, name);
    if (existsSync(path) && readFileSync(path).equals(content)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

const sameBytes = (left, right) => left !== undefined && right !== undefined && left.equals(right);
