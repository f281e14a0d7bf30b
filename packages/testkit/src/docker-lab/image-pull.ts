import type Docker from 'dockerode';

/**
 * Pulls an image, unless the engine has it, as plain tests need it before they create a container; answers the reference.
 * @throws the engine's own error, also one that comes in the middle of the stream
 */
export async function imageHere(engine: Docker, reference: string): Promise<string> {
  const stream = await engine.pull(reference);
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(stream, (error) => (error === null ? resolve() : reject(error)));
  });
  return reference;
}
