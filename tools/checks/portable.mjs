import { readText, trackedFiles } from './tracked-files.mjs';

/** Absolute paths that exist on one machine only; only at the start of a path, so /proc/PID/root/etc is fine. */
const MACHINE_PATH = /(?<![\w.}*-]|[\w.]\/)\/(?:root|work|farm|home\/(?!hoodcloud\b)\w+|Users\/\w+)\//;
const PRIVATE_ADDRESS = /https?:\/\/[^\s"'`]*(?:artifactory|nexus|verdaccio|\.internal\b|\.corp\b|\.lan\b)/i;

/** The lock file names packages and their hashes; where they were fetched from is each machine's own matter. */
export async function findLockAddresses() {
  const hits = lines('package-lock.json').filter(({ text }) => /"resolved":\s*"(?:https?|git|file):?/.test(text));
  if (hits.length === 0) return undefined;
  return `package-lock.json:${hits[0].number} names a download address (${hits.length} in all): install with the .npmrc of this project.`;
}

/** Whether a line holds a path or an address that means nothing on another machine. */
export function namesOneMachine(line) {
  return MACHINE_PATH.test(line) || PRIVATE_ADDRESS.test(line);
}

/** Lines with a path or an address that means nothing elsewhere. */
export async function findMachinePaths() {
  const complaints = [];
  for (const file of await trackedFiles()) {
    for (const { number, text } of lines(file)) {
      if (namesOneMachine(text)) complaints.push(`${file}:${number}: ${text.trim().slice(0, 120)}`);
    }
  }
  return complaints.length > 0 ? complaints.join('\n') : undefined;
}

function lines(file) {
  return (readText(file) ?? '').split('\n').map((text, index) => ({ number: index + 1, text }));
}
