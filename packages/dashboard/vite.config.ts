import { resolve } from 'node:path';
import { defineConfig } from 'vite';

/** Hashed files below `assets/`, the page beside them; what the api role serves. */
export default defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  build: {
    outDir: resolve(import.meta.dirname, '../../dist/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    chunkSizeWarningLimit: 900,
    modulePreload: { polyfill: false },
  },
});
