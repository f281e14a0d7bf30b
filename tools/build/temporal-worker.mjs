/** What the SDK bundles workflow code with: a production build has done that, and webpack with swc is 120 MB. */
const BUNDLER = /\/@temporalio\/worker\/lib\/workflow\/bundler\.js$/;
const NO_BUNDLER = `
exports.defaultWorkflowInterceptorModules = [];
exports.bundleWorkflowCode = async () => {
  throw new Error('workflow code is bundled when the control plane is built; this build lacks workflow-bundle.cjs');
};
exports.WorkflowCodeBundler = class {
  createBundle() {
    return exports.bundleWorkflowCode();
  }
};
`;

/** Where the SDK looks for its native part. */
const NATIVE = /\/@temporalio\/core-bridge\/common\.js$/;

/** Postgres and Temporal as children are for trying things out, from the source tree. */
const DEV_ROLE = /\/controlplane\/src\/roles\/dev-role\.ts$/;
const NO_DEV_ROLE = `
export async function runDev() {
  throw new Error('the dev role runs from the source tree only: \`npm start\` there');
}
`;

/** Beside the program, whatever the platform: a build is for one. */
export const NATIVE_NAME = 'temporal-core.node';

/**
 * Lets one file hold Temporal's worker: its native part is looked for beside the program, and what only development needs
 * is left out.
 * @type {import('esbuild').Plugin}
 */
export const temporalWorker = {
  name: 'temporal worker',
  setup: ({ onLoad }) => {
    onLoad({ filter: BUNDLER }, () => ({ contents: NO_BUNDLER, loader: 'js' }));
    onLoad({ filter: NATIVE }, () => ({
      contents: `exports.getPrebuiltPath = () => require.resolve('./${NATIVE_NAME}');`,
      loader: 'js',
    }));
    onLoad({ filter: DEV_ROLE }, () => ({ contents: NO_DEV_ROLE, loader: 'js' }));
  },
};
