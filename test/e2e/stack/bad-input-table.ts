/** One row of docs/bad-input.md. */
export interface BadInputRow {
  readonly input: string;
  /** The command whose answer carries the message. */
  readonly where: string;
  readonly message: string;
  readonly node: string;
}

/** The page that shows what each bad input leads to, from what was observed in this run. */
export function badInputPage(rows: readonly BadInputRow[]): string {
  const lines = rows.map(({ input, where, message, node }) => [input, `\`${where}\``, cell(message), node].join(' | '));
  return `# Bad input

Written by \`test/e2e/bad-input.e2e.test.ts\` from what a run showed; don't edit it. Every row ran against the four roles, a
real agent and a running node. "Untouched" means: the process that ran before runs still (same pid, same start), and every
file of its program and configuration is the same in content, mode, owner and time. "Old version again" means: it was
stopped, undone and started, the running executable's hash is the old one, and the files are the same in all of that too.

input | where the operator looks | message | the node
--- | --- | --- | ---
${lines.join('\n')}
`;
}

function cell(message: string): string {
  return message.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

/** What differs from run to run and machine to machine is replaced: folders, ports, ids, hashes and sizes. */
export function stableText(text: string, hostRoot: string): string {
  return (
    text
      .replaceAll(hostRoot, '/host')
      .replace(/http:\/\/127\.0\.0\.1:\d+\/[\w-]+\//g, 'http://releases/')
      .replace(/127\.0\.0\.1:\d+/g, 'gateway:9090')
      .replace(/sha256:([0-9a-f]{6})[0-9a-f]{58}/g, 'sha256:…')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, '‹id›')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '‹time›')
      .replace(/\b\d+ bytes/g, 'N bytes')
      .replace(/\b\d+\.\d MB/g, 'N MB')
      .replace(/\bafter N bytes of N bytes|after \d+ of N bytes/g, 'after N of N bytes')
      // how the last of many tries ended depends on the moment at which the budget did
      .replace(/in time; the last trouble: .*/, 'in time; the last trouble: ‹the last one›')
      .replace(/built for (arm64|x64), this host is (arm64|x64)/, 'built for ‹another›, this host is ‹processor›')
  );
}
