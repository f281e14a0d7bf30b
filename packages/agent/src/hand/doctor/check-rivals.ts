import { followLinks } from '../../host/atomic-file.ts';
import { Engine } from '../../runtime/docker/engine.ts';
import { call } from '../../runtime/systemd/systemctl.ts';
import { type Check, type ExaminedComponent, type Finding, ok, warning } from './finding.ts';
import { unitsThatDrive } from './units-that-drive.ts';

const ASK_MS = 10_000;

/** Who else would put another version back at his next run: a package manager, a Compose project, a unit that makes it. */
export const checkRivals: Check = async ({ components }) => (await Promise.all(components.map(rivalsOf))).flat();

async function rivalsOf(component: ExaminedComponent): Promise<Finding[]> {
  const { config } = component;
  const check = `${config.binary_name} rivals`;
  const found =
    config.install_path === null
      ? (await Promise.all([compose(component, check), units(component, check)])).flat()
      : await owner(check, config.install_path);
  return found.length > 0 ? found : [ok(check, 'no package manager, Compose project or unit is seen to own it')];
}

async function owner(check: string, installPath: string): Promise<Finding[]> {
  const path = await followLinks(installPath);
  const asked: [program: string, args: string[], read: (answer: string) => string][] = [
    ['dpkg-query', ['-S', path], (answer) => answer.split(':')[0] ?? ''],
    ['rpm', ['-qf', path], (answer) => answer.trim()],
  ];
  for (const [program, args, read] of asked) {
    const answer = await ask(program, args);
    if (answer === null) continue;
    const name = read(answer);
    const todo = `hold the package back (apt-mark hold ${name}, dnf versionlock) or install the binary elsewhere`;
    return [warning(check, `${path} belongs to the package ${name}: its next update brings another version`, todo)];
  }
  return [];
}

/** Null when the program isn't here or knows nothing of it. */
async function ask(program: string, args: readonly string[]): Promise<string | null> {
  try {
    const { code, stdout } = await call(program, args, AbortSignal.timeout(ASK_MS));
    return code === 0 ? stdout : null;
  } catch {
    return null; // not on this host, or silent: then nothing is known, which is no trouble
  }
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
