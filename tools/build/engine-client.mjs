/** What dockerode needs to reach engines by ssh and to build images, some of it machine code that no bundle can hold. */
const NOT_OURS = /^(ssh2|tar-fs|@balena\/dockerignore|@grpc\/proto-loader|protobufjs)$/;
const DOCKERODE = /\/node_modules\/(dockerode|docker-modem)\//;

/**
 * Lets a bundle take dockerode with what the agent uses of it: an engine behind a unix socket. The rest is left out.
 * @type {import('esbuild').Plugin}
 */
export const engineClientOnly = {
  name: 'engine client only',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: NOT_OURS }, ({ path, importer }) =>
      DOCKERODE.test(importer) ? { path, namespace: 'left-out' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
  },
};
