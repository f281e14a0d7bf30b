import type { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import { afterAll, beforeAll } from 'vitest';
import { describeRuntimeContract } from '../conformance.ts';
import { makeContainer, startRegistry } from './testing/test-container.ts';

let registry: TestRegistry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.stop());

describeRuntimeContract('the Docker adapter', () => makeContainer(registry));
