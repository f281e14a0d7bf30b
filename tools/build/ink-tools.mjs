/**
 * Lets a bundle take Ink without the development tools that it loads when DEV is set; they are no dependency of ours.
 * @type {import('esbuild').Plugin}
 */
export const withoutInkTools = {
  name: 'without ink tools',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: 'ink-tools' }));
    onLoad({ filter: /./, namespace: 'ink-tools' }, () => ({ contents: 'export default {};', loader: 'js' }));
  },
};
