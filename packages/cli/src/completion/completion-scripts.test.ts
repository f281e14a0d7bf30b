import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { runWith } from '../testing/cli-run.ts';

/** What bash offers after the words; the last one is being typed. */
async function offered(...words: string[]): Promise<string[]> {
  const { out: script } = await runWith(() => null, 'completion', 'bash');
  const typed = words.map((word) => `'${word}'`).join(' ');
  const ask = `${script}\nCOMP_WORDS=(hoodctl ${typed}); COMP_CWORD=${words.length}; _hoodctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', ask], { encoding: 'utf8' }).trim().split('\n');
}

it('completes commands, their commands and their options in bash', async () => {
  expect(await offered('ro')).toEqual(['rollout']);
  expect(await offered('rollout', 'st')).toEqual(['start', 'status']);
  expect(await offered('rollout', 'status', 'latest', '--wa')).toEqual(['--watch']);
  expect(await offered('rollout', 'plan', 'l')).toEqual(['']); // `plan list` is another command
});

it('completes the words that an option or an argument may have in bash', async () => {
  expect(await offered('rollout', 'list', '--status', 'pa')).toEqual(['paused']);
  expect(await offered('node', 'list', '--output', '')).toEqual(['table', 'json', 'yaml']);
  expect(await offered('completion', 'z')).toEqual(['zsh']);
});

it.each(['zsh', 'fish'])('knows every command in %s', async (shell) => {
  const { out } = await runWith(() => null, 'completion', shell);
  for (const word of ['rollout', 'rollback', 'join-token', 'lint', 'yaml', 'paused']) expect(out).toContain(word);
});
