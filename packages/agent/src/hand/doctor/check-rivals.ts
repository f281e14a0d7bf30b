import { Engine } from '../../runtime/docker/engine.ts';
import { type Check, type ExaminedComponent, type Finding, ok, warning } from './finding.ts';
import { unitsThatDrive } from './units-that-drive.ts';

const ADVICE = 'hold the package back (apt-mark hold), correct the unit, or mind it at the next upgrade';

/**
 * What of the host's set-up surprises an upgrade or brings another version back: whatever the runtime knows of (a package
 * that owns the binary, a unit that downloads before each start), a Compose project, a unit that makes the container.
 */
export const checkRivals: Check = async ({ components }) => (await Promise.all(components.map(rivalsOf))).flat();

async function rivalsOf(component: ExaminedComponent): Promise<Finding[]> {
  const { config, adapter, status } = component;
  if (status === null) return []; // the runtime can't be asked, which is a finding of its own
  const check = `${config.binary_name} rivals`;
  const known = (await adapter.warnings()).map((sentence) => warning(check, sentence, ADVICE));
  const others = await Promise.all([compose(component, check), units(component, check)]);
  const found = [...known, ...others.flat()];
  return found.length > 0 ? found : [ok(check, 'nothing is seen that would bring another version back')];
}

async function compose({ config, adapter }: ExaminedComponent, check: string): Promise<Finding[]> {
  if (config.runtime.type !== 'docker') return [];
  const container = await new Engine(config.runtime.socket).container(config.runtime.container);
  const project = container?.Config.Labels?.['com.docker.compose.project'];
  if (project === undefined) return [];
  const files = container?.Config.Labels?.['com.docker.compose.project.config_files'] ?? 'its file';
  const found = `${adapter.serviceName()} belongs to the Compose project ${project}: the next "up" makes it anew from ${files}`;
  return [warning(check, found, `write the image of each upgrade into ${files} too`)];
}

async function units({ config }: ExaminedComponent, check: string): Promise<Finding[]> {
  if (config.runtime.type !== 'docker') return [];
  const { container } = config.runtime;
  return (await unitsThatDrive(container)).map((unit) =>
    warning(
      check,
      `${unit} makes the container ${container} by its own commands: its next start brings its own version back`,
      `let ${unit} only start the container (docker start -a ${container}), or write the image of each upgrade into it too`,
    ),
  );
}
