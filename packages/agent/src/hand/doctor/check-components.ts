import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError } from '../../agent-error.ts';
import { followLinks } from '../../host/atomic-file.ts';
import { requireFreeSpace } from '../../host/free-space.ts';
import { type Check, type ExaminedComponent, type Finding, ok, trouble } from './finding.ts';

/** Files that an upgrade makes at one time: download, backup, configs and their temporary copies. */
const FILES_OF_AN_UPGRADE = 64;

/** Whether each component's runtime answers, its folders may be written, and the next upgrade has room. */
export const checkComponents: Check = async ({ components }) => (await Promise.all(components.map(examine))).flat();

async function examine(component: ExaminedComponent): Promise<Finding[]> {
  return [runtime(component), ...(await folders(component)), ...(await room(component))];
}

function runtime({ config, adapter, status, statusError }: ExaminedComponent): Finding {
  const check = `${config.binary_name} runtime`;
  const service = `${adapter.runtimeType} ${adapter.serviceName()}`;
  if (status === null) {
    const todo = 'see that the runtime runs on this host and the configuration names the right service';
    return trouble(check, `${service} can't be looked at: ${statusError}`, todo);
  }
  if (status.installedChecksum === null) {
    const todo = 'put the binary or container there, or correct the configuration';
    return trouble(check, `nothing is installed for ${service}`, todo);
  }
  const { runningChecksum, installedChecksum, state } = status;
  if (runningChecksum !== null && runningChecksum !== installedChecksum) {
    const todo = `restart ${adapter.serviceName()} when it suits, or see that its start command names the install_path`;
    return trouble(check, `${service} runs ${runningChecksum} while ${installedChecksum} is installed`, todo);
  }
  return ok(check, `${service} is ${state}`);
}

async function folders({ config }: ExaminedComponent): Promise<Finding[]> {
  const check = `${config.binary_name} folders`;
  const wanted = [config.data_dir, ...config.config_roots];
  if (config.install_path !== null) wanted.push(dirname(await followLinks(config.install_path)));
  const troubles = await Promise.all(wanted.map((folder) => unwritable(check, folder)));
  const found = troubles.filter((finding) => finding !== null);
  return found.length > 0 ? found : [ok(check, `${wanted.join(', ')} may be written`)];
}

async function unwritable(check: string, folder: string): Promise<Finding | null> {
  try {
    if (!(await stat(folder)).isDirectory())
      return trouble(check, `${folder} is no folder`, 'correct the configuration');
    await access(folder, constants.W_OK);
    return null;
  } catch (error) {
    const todo = 'make it, mount it writable, or correct the configuration';
    return trouble(check, `${folder} can't be written: ${describeError(error).message}`, todo);
  }
}

/** As much as an upgrade to a release of today's size asks for: the download twice beside the binary, and a backup. */
async function room({ config }: ExaminedComponent): Promise<Finding[]> {
  const check = `${config.binary_name} space`;
  try {
    const target = config.install_path === null ? null : await followLinks(config.install_path);
    const size = target === null ? 0 : (await stat(target)).size;
    if (target !== null) await requireFreeSpace(dirname(target), 2 * size, FILES_OF_AN_UPGRADE);
    await requireFreeSpace(config.data_dir, size, FILES_OF_AN_UPGRADE);
    return [ok(check, 'there is room for another upgrade of this size')];
  } catch (error) {
    return [trouble(check, describeError(error).message, 'free some space before the next upgrade')];
  }
}
