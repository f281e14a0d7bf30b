import { call } from '../../runtime/systemd/systemctl.ts';
import { type Check, ok, warning } from './finding.ts';

const ASK_MS = 10_000;

/** Whether something keeps the clock right. Certificates and deadlines are judged by it; liveness is not (B6). */
export const checkClock: Check = async () => {
  const synchronized = await isSynchronized();
  if (synchronized === true) return [ok('clock', 'the clock is kept by NTP')];
  const found = synchronized === null ? 'nothing says whether the clock is kept' : 'the clock is not kept by NTP';
  const todo = 'run chrony or systemd-timesyncd; `hoodctl node show` tells how far the clock is off';
  return [warning('clock', `${found}; it is ${new Date().toISOString()} here`, todo)];
};

/** Null when this host has nobody who knows. */
async function isSynchronized(): Promise<boolean | null> {
  try {
    const args = ['show', '--property=NTPSynchronized', '--value'];
    const { code, stdout } = await call('timedatectl', args, AbortSignal.timeout(ASK_MS));
    return code === 0 ? stdout.trim() === 'yes' : null;
  } catch {
    return null; // no systemd on this host
  }
}
