/** Builds the program and returns it gzipped, without a time stamp. */
export function buildGoTemplate(): Buffer;
