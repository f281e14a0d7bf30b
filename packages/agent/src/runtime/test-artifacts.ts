import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ArtifactBehaviour } from './contract/contract-sentence.ts';

/**
 * A real executable that behaves as told: the machine's shell with a last line that says how, so that every one has a
 * SHA-256 of its own and `/proc/<pid>/exe` is the artifact itself. It runs `TEST_NODE_SCRIPT`.
 */
export async function testArtifact(behaviour: ArtifactBehaviour): Promise<Buffer> {
  return Buffer.concat([await readFile('/bin/sh'), Buffer.from(`\n${randomUUID()}\n${behaviour}\n`)]);
}

/**
 * What a test artifact is given to run; an image says by BEHAVIOUR how it behaves, a file by its own last line. One that is
 * slow to stop ends once there is a file MAY_STOP, by default `may-stop` beside the script.
 */
export const TEST_NODE_SCRIPT = `
echo "node starts"
if grep -qs refuse-me etc/config.toml; then echo "panic: config refused"; exit 4; fi
case "\${BEHAVIOUR:-$(tail -n 1 /proc/$$/exe)}" in
  crashes) echo "panic: bad data"; exit 3 ;;
  slow_to_stop) trap 'echo "node stops"; until [ -e "\${MAY_STOP:-\${0%/*}/may-stop}" ]; do sleep 0.1; done; exit 0' TERM ;;
  *) trap 'echo "node stops"; exit 0' TERM ;;
esac
while :; do
  sleep 3600 &
  wait $!
done
`;
