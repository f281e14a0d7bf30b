const OLDEST = [20, 19];

/** Ends the program with a clear sentence when Node is older than package.json's `engines` allow. */
export function needNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  console.error(`✗ Node ${process.versions.node} is too old: this project needs Node ${OLDEST.join('.')} or newer.`);
  console.error(
    '  What to do: install a current Node LTS from nodejs.org or your package manager, then run this again.',
  );
  process.exit(1);
}
