import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { GatewayFixture } from '@hoodcloud/controlplane/gateway/testing/gateway-fixture';
import { type Answer, ApiFixture, TEST_PROFILE } from '@hoodcloud/controlplane/http/testing/api-fixture';
import type { Coverage } from '@hoodcloud/domain/testing/coverage';
import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { insertRollout } from '@hoodcloud/testkit/rows';
import { RolloutUnderTest } from './rollout-under-test.ts';
import { SimulatedAgent } from './simulated-agent.ts';

export type RolloutOptions = NonNullable<Parameters<typeof insertRollout>[1]>;
export type OrderAnswer = Answer<Partial<Omit<RolloutDetail, 'status'> & Omit<Problem, 'status'>>>;

/**
 * The control plane's own parts on one database: API, gateway, relay, worker and Temporal, as in production. Simulated are
 * the agents, which speak the real protocol, and the judge of health, which a test tells what to find.
 */
export class ModelBench {
  readonly lab: RolloutLab;
  readonly api: ApiFixture;
  readonly #gateways: GatewayFixture;
  /** How many things a test let happen here. */
  commands = 0;
  #gatewayAddress = '';
  #scenes = 0;
  #restarts: Promise<void> = Promise.resolve();

  private constructor(lab: RolloutLab, api: ApiFixture, gateways: GatewayFixture) {
    this.lab = lab;
    this.api = api;
    this.#gateways = gateways;
  }

  static async open(): Promise<ModelBench> {
    const lab = await RolloutLab.open();
    lab.script.agent = () => 'silent'; // agents answer over the wire
    const api = await ApiFixture.create({ database: lab.database });
    const bench = new ModelBench(lab, api, GatewayFixture.over(lab.database));
    bench.#gatewayAddress = (await bench.#gateways.gateway()).address;
    return bench;
  }

  /** A pending rollout on a chain of its own, whose nodes' agents are connected. */
  async rollout(size: number, options: RolloutOptions, coverage: Coverage): Promise<RolloutUnderTest> {
    this.#scenes += 1;
    const chain = `chain-${this.#scenes}`;
    await this.api.writeConfig(`${chain}/profile.yaml`, TEST_PROFILE.replace('testchain', chain));
    const agents = await Promise.all(Array.from({ length: size }, () => this.#agent(chain)));
    const id = await insertRollout(this.lab.db, { chain_profile_id: chain, ...options });
    return new RolloutUnderTest({ bench: this, id, agents, coverage });
  }

  /** As an operator does who restarts the worker; one restart after the other. */
  restartWorker(): Promise<void> {
    return this.#inTurn(async () => {
      await this.lab.stopWorker();
      await this.lab.startWorker();
    });
  }

  restartRelay(): Promise<void> {
    return this.#inTurn(async () => {
      await this.lab.stopReconcilers();
      await this.lab.startReconcilers();
    });
  }

  async close(): Promise<void> {
    await this.api.dispose();
    await this.#gateways.dispose();
    await this.lab.close();
  }

  #inTurn(restart: () => Promise<void>): Promise<void> {
    this.#restarts = this.#restarts.then(restart);
    return this.#restarts;
  }

  async #agent(chain: string): Promise<SimulatedAgent> {
    const { nodeId, credential } = await this.#gateways.joinedNode({ chain_profile_id: chain });
    return SimulatedAgent.connect(nodeId, () => this.#gateways.agent(this.#gatewayAddress, credential));
  }
}
