import type { ComponentReport, Hello, JoinRequest } from '@hoodcloud/contracts/wire/agent-v1';
import { RUNTIME_NAMES } from '../health/component-store.ts';
import { BadMessageError } from './gateway-error.ts';

const MAX_COMPONENTS = 32;
const MAX_SAMPLES = 5_000;
const MAX_CONFIG_FILES = 1_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** @throws BadMessageError naming the field */
export function checkJoin(request: JoinRequest): void {
  if (!request.joinToken) throw new BadMessageError('join_token is empty');
}

/** @throws BadMessageError naming the field */
export function checkHello(hello: Hello): void {
  if (!hello.instanceNonce || hello.instanceNonce.length > 200 || hello.instanceNonce.includes('\0')) {
    throw new BadMessageError('hello.instance_nonce must have 1 to 200 characters');
  }
  checkComponents('hello', hello.components);
}

/** @throws BadMessageError naming the component and field */
export function checkComponents(message: string, components: readonly ComponentReport[]): void {
  if (components.length > MAX_COMPONENTS) {
    throw new BadMessageError(`${message} has ${components.length} components, more than ${MAX_COMPONENTS}`);
  }
  const names = new Set<string>();
  for (const component of components) {
    const { binaryName } = component;
    if (!binaryName || binaryName.length > 100 || binaryName.includes('\0')) {
      throw new BadMessageError(`${message}: a component's binary_name must have 1 to 100 characters`);
    }
    if (names.has(binaryName)) throw new BadMessageError(`${message}: component ${binaryName} is there twice`);
    names.add(binaryName);
    if (!RUNTIME_NAMES[component.runtimeType]) {
      throw new BadMessageError(`${message}: component ${binaryName} has no runtime_type`);
    }
    if (component.metrics.length > MAX_SAMPLES) {
      throw new BadMessageError(`${message}: component ${binaryName} has more than ${MAX_SAMPLES} metric samples`);
    }
    if (Object.keys(component.configChecksums).length > MAX_CONFIG_FILES) {
      throw new BadMessageError(`${message}: component ${binaryName} has more than ${MAX_CONFIG_FILES} config files`);
    }
  }
}

/** @throws BadMessageError when it can't be the id of a command */
export function checkCommandId(message: string, commandId: string): void {
  if (!UUID.test(commandId)) throw new BadMessageError(`${message}.command_id is no UUID`);
}
