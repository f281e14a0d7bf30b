import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** How a release of the tiny node behaves: it ends at once, or three blocks after each start, or makes no block at all. */
export type TinyBehaviour = 'runs' | 'crashes' | 'loops' | 'stalls';

export interface TinyRelease {
  readonly version: string;
  readonly content: Buffer;
  /** `sha256:<hex>` */
  readonly checksum: string;
}

/**
 * A real executable of some hundred kilobytes with a hash of its own: the machine's shell with a last line that names
 * version and behaviour, so that `/proc/<pid>/exe` is the release itself. Nothing is compiled. It runs TINY_NODE_SCRIPT.
 */
export function tinyRelease(version: string, behaviour: TinyBehaviour = 'runs'): TinyRelease {
  return releaseOf(version, Buffer.concat([readFileSync('/bin/sh'), Buffer.from(`\n${version} ${behaviour}\n`)]));
}

export function releaseOf(version: string, content: Buffer): TinyRelease {
  return { version, content, checksum: `sha256:${createHash('sha256').update(content).digest('hex')}` };
}

/**
 * A node of an imaginary chain. Its arguments are its data folder and its config. It makes a block a second
 * (`height`), notes each of its starts and stops with the version that ran (`starts`, `stops`: the host's own journal),
 * refuses a config with the word `refused`, and, while a file `slow` lies there, stops only when a file `may-stop` does.
 */
export const TINY_NODE_SCRIPT = `
data=$1
config=$2
release=$(tail -n 1 /proc/$$/exe)
echo "tiny node $release starts"
case "$release" in
  *crashes) echo "panic: $release can not read the data of this chain"; exit 3 ;;
esac
if grep -q refused "$config"; then
  echo "error: $config: the value of peers is refused"
  exit 4
fi
echo "$release" >> "$data/starts"
stop() {
  echo "closing databases"
  : > "$data/closing"
  while [ -e "$data/slow" ] && [ ! -e "$data/may-stop" ]; do sleep 0.1; done
  rm -f "$data/closing"
  echo "$release" >> "$data/stops"
  exit 0
}
trap stop TERM
height=$(cat "$data/height" 2>/dev/null || echo 0)
blocks=0
while :; do
  case "$release" in
    *loops) [ $blocks -lt 3 ] || { echo "panic: $release lost its peers"; exit 5; } ;;
  esac
  case "$release" in
    *stalls) ;;
    *) blocks=$((blocks + 1)); height=$((height + 1)) ;;
  esac
  echo "$height" > "$data/.height" && mv "$data/.height" "$data/height"
  sleep 1
done
`;
