import { setUp } from '../bootstrap/set-up.mjs';

const NAMES = ['controlplane', 'stand-ins'];

/** `images [controlplane|stand-ins …]`: container images on the engine that DOCKER_HOST names, without any registry. */
export async function run(names) {
  const unknown = names.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) {
    console.error(`Usage: npm run build:images -- [${NAMES.join('|')} …]`);
    return 2;
  }
  await setUp();
  const { buildImages, IMAGES } = await import('../images/build-images.mjs'); // needs what set-up installs
  const wanted = names.length > 0 ? names : ['controlplane'];
  await buildImages(wanted);
  for (const name of wanted) console.log(`✓ ${IMAGES[name]}`);
  return 0;
}
