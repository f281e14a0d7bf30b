import { ComposeProject } from './compose-project.ts';
import { DeployedFleet } from './deployed-fleet.ts';
import {
  memoryOfRoles,
  restoreAfterTheEnd,
  restoreInTheMiddle,
  rolloutCompletes,
  sizeOfImage,
  upgradeInTheMiddle,
} from './scenes.ts';

// Usage: tsx test/deploy/compose-stack.ts DOCKER-COMPOSE
const [compose = ''] = process.argv.slice(2);
const began = Date.now();
let passed = 0;

async function scene<T>(name: string, play: () => Promise<T>): Promise<T> {
  const start = Date.now();
  const result = await play();
  passed += 1;
  const seconds = (since: number) => ((Date.now() - since) / 1000).toFixed(0);
  console.log(`✓ ${name} (${seconds(start)} s; ${seconds(began)} s since the start)`);
  return result;
}

let project: ComposeProject | undefined;
let fleet: DeployedFleet | undefined;
try {
  const stack = await scene('an engine of its own has the images of this tree', () => ComposeProject.open(compose));
  project = stack;
  console.log(await sizeOfImage(stack));
  await scene('the compose file starts, every service healthy', () => stack.compose('up', '-d', '--wait'));
  const nodes = await scene('two agents join by TLS', () => DeployedFleet.join(stack));
  fleet = nodes;
  await scene('a rollout over both completes', () => rolloutCompletes(nodes));
  await scene('each role is replaced by the next release while a node is stopping', () =>
    upgradeInTheMiddle(stack, nodes),
  );
  await scene('a backup of the middle of a rollout is restored, and the rollout goes on', () =>
    restoreInTheMiddle(stack, nodes),
  );
  await scene('a backup is restored that hosts have outrun, and the rollout ends once more', () =>
    restoreAfterTheEnd(stack, nodes),
  );
  console.log(await memoryOfRoles(stack));
  console.log(`${passed} passed, 0 failed`);
} catch (error) {
  console.error(error);
  console.error(await project?.compose('ps', '-a').catch(String));
  console.error(await project?.compose('logs', '--tail', '25').catch(String));
  console.log(`${passed} passed, 1 failed`);
  process.exitCode = 1;
} finally {
  await fleet?.dispose();
  await project?.dispose();
}
