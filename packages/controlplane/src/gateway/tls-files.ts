import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Logger } from '../feature.ts';
import type { GatewayTls } from './gateway-server.ts';

/** Where PEM files are. */
export interface TlsFiles {
  readonly key: string;
  readonly certificate: string;
  readonly clientAuthority: string | null;
}

/** @throws when a file can't be read, or key and certificate don't belong together */
export async function readTlsFiles({ key, certificate, clientAuthority }: TlsFiles): Promise<GatewayTls> {
  const read = {
    key: await readFile(key, 'utf8'),
    certificate: await readFile(certificate, 'utf8'),
    clientAuthority: clientAuthority === null ? null : await readFile(clientAuthority, 'utf8'),
  };
  createSecureContext({
    key: read.key,
    cert: read.certificate,
    ...(read.clientAuthority && { ca: read.clientAuthority }),
  });
  return read;
}

const LOOK_EVERY_MS = 10_000;

/**
 * Reads the files again every ten seconds and hands on what changed, so that certificates rotate without a restart and
 * without cutting a stream. What can't be used, e.g. a new key whose certificate is not there yet, is logged and tried again;
 * the old pair serves on meanwhile.
 * @returns stops looking
 */
export function watchTlsFiles(
  files: TlsFiles,
  first: GatewayTls,
  parts: { readonly changed: (tls: GatewayTls) => void; readonly log: Logger; readonly everyMs?: number },
): () => void {
  let current = first;
  let complained = '';
  const look = async () => {
    try {
      const found = await readTlsFiles(files);
      complained = '';
      if (JSON.stringify(found) === JSON.stringify(current)) return;
      current = found;
      parts.changed(found);
      const { subject, validTo } = new X509Certificate(found.certificate);
      parts.log.info({ subject, valid_to: validTo }, 'new connections of agents get the new certificate');
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== complained) parts.log.error({ err: error }, "the gateway's new key or certificate can't be used");
      complained = message;
    }
  };
  const timer = setInterval(() => void look(), parts.everyMs ?? LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
