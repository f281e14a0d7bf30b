import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A key and its certificate as PEM text. */
export interface Identity {
  readonly key: string;
  readonly certificate: string;
}

/** An authority of its own for one test, with certificates for 127.0.0.1 that are good for a day. Needs openssl. */
export class TestAuthority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'hoodcloud-certificates-'));
  readonly certificate: string;

  constructor() {
    this.#openssl('req', '-x509', '-subj', '/CN=test authority', '-keyout', 'ca.key', '-out', 'ca.pem', ...NEW_KEY);
    this.certificate = this.#read('ca.pem');
  }

  issue(name: string): Identity {
    this.#openssl('req', '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`, ...NEW_KEY);
    writeFileSync(join(this.#folder, 'names'), 'subjectAltName=IP:127.0.0.1');
    const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1', '-extfile', 'names'];
    this.#openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signer);
    return { key: this.#read(`${name}.key`), certificate: this.#read(`${name}.pem`) };
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.#folder, stdio: 'pipe' });
  }

  #read(file: string): string {
    return readFileSync(join(this.#folder, file), 'utf8');
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
