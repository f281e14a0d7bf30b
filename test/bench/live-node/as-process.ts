import { readFile } from 'node:fs/promises';
import { COMETBFT_ON_HOST, putHome } from '@hoodcloud/testkit/chains/cometbft-host';
import { AGENT_ON_HOST, agentBundle } from '@hoodcloud/testkit/host-lab/agent-on-host';
import type { Binaries, LiveNode } from './live-node.ts';
import { fileAgent, fileArtifact, fileHost, PREPARED, prepareFile } from './on-systemd.ts';

const { binary: INSTALLED, home } = COMETBFT_ON_HOST;
const PID_FILE = '/run/cometbft.pid';
const START = `setsid ${INSTALLED} start --home ${home} >>/var/log/cometbft.log 2>&1 </dev/null & echo $! >${PID_FILE}`;
/** A shell can only `wait` for its own children; this looks again as fast as a shell can. */
const STOP = `pid=$(cat ${PID_FILE}); kill -TERM $pid; while kill -0 $pid 2>/dev/null; do sleep 0.001; done`;

/**
 * A validator as a plain process: under the agent's supervisor, and for the change by hand (TERM, wait, rename, start) a
 * process of the shell. The node changes hands between the rounds, off the clock.
 */
export async function nodeAsProcess(binaries: Binaries): Promise<LiveNode> {
  const { lab, host, validator, artifacts } = await fileHost(binaries);
  await putHome(host, validator, home, '0:0');
  await host.writeFile(INSTALLED, await readFile(binaries['v0.38.17'].path), 0o755);
  await host.writeFile(AGENT_ON_HOST.program, await agentBundle());
  await host.sh(START);
  const agent = (verb: string) => host.must('node', AGENT_ON_HOST.program, verb, 'cometbft');
  let ours = false;
  return {
    host,
    rpcPort: validator.rpcPort,
    agentConfig: fileAgent(lab, { type: 'process', command: [INSTALLED, 'start', '--home', home] }),
    artifactOf: (release) => fileArtifact(artifacts, binaries, release),
    byHand: {
      bare_steps: {
        prepare: async (to) => {
          await prepareFile(host, to);
          if (ours) {
            await agent('stop-node');
            await host.sh(START);
          }
          ours = false;
        },
        change: async () => void (await host.sh(`${STOP}; mv -T ${PREPARED} ${INSTALLED}; ${START}`)),
        tidy: async () => undefined,
      },
    },
    handOver: async () => {
      if (ours) return;
      await host.sh(`${STOP}; rm ${PID_FILE}`);
      await agent('start-node');
      ours = true;
    },
    own: {
      stop: `node ${AGENT_ON_HOST.program} stop-node cometbft`,
      start: `node ${AGENT_ON_HOST.program} start-node cometbft`,
    },
    dispose: async () => {
      await artifacts.close();
      await lab.clean();
    },
  };
}
