import type { Plugin } from 'esbuild';

export const engineClientOnly: Plugin;
