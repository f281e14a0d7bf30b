import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';

/** Whether this work tree has what the generator starts from. */
export const isApplicable = (generator) => existsSync(join(ROOT, generator.needs));

/** Runs one generator in the work tree; throws with its output when it fails. */
export async function runGenerator({ name, command, cwd = '.' }) {
  const [program, ...args] = command;
  const { code, output } = await runCollected(program, args, { cwd: join(ROOT, cwd) });
  if (code !== 0) throw new Error(`The generator "${name}" (${command.join(' ')}) failed:\n${output.trimEnd()}`);
}

/**
 * Runs a generator and puts the work tree back as it was.
 * @returns {Promise<string[]>} the files whose content would change, appear or vanish
 */
export async function staleFiles(generator) {
  const before = readOutputs(generator.outputs);
  try {
    await runGenerator(generator);
    const after = readOutputs(generator.outputs);
    const names = [...new Set([...before.keys(), ...after.keys()])].sort();
    return names.filter((name) => !sameBytes(before.get(name), after.get(name)));
  } finally {
    restore(generator.outputs, before);
  }
}

/** @returns {Map<string, Buffer>} path relative to the root → content */
function readOutputs(outputs) {
  const files = new Map();
  const visit = (path) => {
    if (!existsSync(path)) return;
    if (statSync(path).isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
    else files.set(relative(ROOT, path), readFileSync(path));
  };
  for (const output of outputs) visit(join(ROOT, output));
  return files;
}

function restore(outputs, before) {
  for (const name of readOutputs(outputs).keys()) if (!before.has(name)) rmSync(join(ROOT, name));
  for (const [name, content] of before) {
    const path = join(ROOT, name);
    if (existsSync(path) && readFileSync(path).equals(content)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

const sameBytes = (left, right) => left !== undefined && right !== undefined && left.equals(right);
