import { join } from 'node:path';
import { namesInFolder, readTextIfThere } from '../../host/read-if-there.ts';

const UNIT_DIR = '/etc/systemd/system';
/** Words of the clients that make, pull for or remove a container. */
const MAKES = /\b(?:docker|podman|nerdctl)\b.*\b(?:run|create|pull|rm|compose|up)\b/;

/**
 * Units of the host's operator that make the container anew at their next start, most often by `ExecStartPre=docker pull`
 * and `docker run --name`: whatever version an upgrade has brought is gone then.
 */
export async function unitsThatDrive(container: string, folder = UNIT_DIR): Promise<string[]> {
  const names = (await namesInFolder(folder)).filter((name) => name.endsWith('.service'));
  const texts = await Promise.all(names.map((name) => readTextIfThere(join(folder, name))));
  return names.filter((_, index) => drives(texts[index] ?? '', container));
}

/** Whether a unit file's commands make, pull for or remove the container. */
export function drives(unitFile: string, container: string): boolean {
  const commands = unitFile
    .replaceAll(/\\\r?\n/g, ' ')
    .split('\n')
    .filter((line) => /^\s*Exec\w*\s*=/.test(line));
  const makes = commands.some((command) => MAKES.test(command));
  return makes && commands.some((command) => command.split(/[\s='"]+/).includes(container));
}
