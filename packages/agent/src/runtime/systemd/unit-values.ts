/** The KEY=VALUE lines of `systemctl show` by name; a property with several values (commands) has one a line. */
export function readProperties(output: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const line of output.split('\n')) {
    const at = line.indexOf('=');
    if (at <= 0) continue;
    const key = line.slice(0, at);
    const known = values.get(key);
    values.set(key, known === undefined ? line.slice(at + 1) : `${known}\n${line.slice(at + 1)}`);
  }
  return values;
}

/** A list of names as systemd prints it. */
export function namesIn(value: string): string[] {
  return value.split(' ').filter((name) => name !== '');
}
