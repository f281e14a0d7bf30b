import { readFile } from 'node:fs/promises';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { ControlPlaneConfig } from '../../agent-config.ts';
import { describeError } from '../../agent-error.ts';
import { readContact } from '../../gateway-contact.ts';
import { type Check, type Finding, ok, trouble, warning } from './finding.ts';

const CONNECT_MS = 10_000;
const EXPIRES_SOON_MS = 14 * 86_400_000;
const CHECK = 'gateway';

/** Dials the gateway as the agent would, and looks at its certificate. Nothing is said to it. */
export const checkGateway: Check = async ({ config }) => {
  const { address, tls } = config.control_plane;
  const last = (await readContact(config.state_dir))?.last_contact_at ?? 'never';
  try {
    const socket = await dial(config.control_plane);
    const findings = tls === null ? [plainText(address)] : [certificate(address, socket as TLSSocket)];
    socket.destroy();
    return findings;
  } catch (error) {
    const found = `the gateway ${address} can't be reached: ${describeError(error).message}; last contact ${last}`;
    return [trouble(CHECK, found, whatToDo(error, config.control_plane))];
  }
};

function plainText(address: string): Finding {
  return warning(
    CHECK,
    `${address} is reached without TLS`,
    'give control_plane.tls: without it, only for development',
  );
}

function certificate(address: string, socket: TLSSocket): Finding {
  const until = new Date(socket.getPeerCertificate().valid_to);
  const found = `${address} is reached, its certificate is good until ${until.toISOString()}`;
  if (until.getTime() - Date.now() > EXPIRES_SOON_MS) return ok(CHECK, found);
  return warning(CHECK, found, 'renew the certificate of the gateway: agents refuse it after that moment');
}

async function dial({ address, tls }: ControlPlaneConfig): Promise<Socket> {
  const at = address.lastIndexOf(':');
  const [host, port] = [address.slice(0, at).replace(/^\[|\]$/g, ''), Number(address.slice(at + 1))];
  if (tls === null) return connected(connectPlain({ host, port }), 'connect');
  const [ca, cert, key] = await Promise.all([tls.ca_file, tls.cert_file, tls.key_file].map(readPem));
  const servername = tls.server_name ?? (isIP(host) === 0 ? host : ''); // an address is no server name
  const options = { host, port, servername, ALPNProtocols: ['h2'], ca, cert, key };
  return connected(connectTls(options), 'secureConnect');
}

function connected(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`nothing answered within ${CONNECT_MS / 1000} s`));
    }, CONNECT_MS);
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once(event, () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}

async function readPem(file: string | null): Promise<Buffer | undefined> {
  return file === null ? undefined : readFile(file);
}

const HINTS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'correct control_plane.address, or the name server of this host',
  EAI_AGAIN: 'the name server of this host does not answer: see /etc/resolv.conf',
  ECONNREFUSED: 'the gateway is down, or control_plane.address names another port',
  CERT_HAS_EXPIRED: 'renew the certificate of the gateway, or set the clock of this host',
  CERT_NOT_YET_VALID: 'set the clock of this host',
  ERR_TLS_CERT_ALTNAME_INVALID: 'name the gateway as its certificate does, or give control_plane.tls.server_name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'give the CA of the gateway as control_plane.tls.ca_file',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'give the CA of the gateway as control_plane.tls.ca_file',
  SELF_SIGNED_CERT_IN_CHAIN: 'give the CA of the gateway as control_plane.tls.ca_file',
  ENOENT: 'a file named in control_plane.tls is not there',
};

function whatToDo(error: unknown, { address }: ControlPlaneConfig): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const hint = HINTS[code] ?? `see that this host may reach ${address}: firewall, route, gateway`;
  return `${hint}. Nodes go on meanwhile, and so does \`hoodcloud-agent rollback\``;
}
