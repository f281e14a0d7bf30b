import { createSecureContext } from 'node:tls';
import { experimental, type ServerCredentials } from '@grpc/grpc-js';
import type { GatewayTls } from './gateway-server.ts';

type IdentityListener = Parameters<experimental.CertificateProvider['addIdentityCertificateListener']>[0];
type AuthorityListener = Parameters<experimental.CertificateProvider['addCaCertificateListener']>[0];

/**
 * What grpc-js asks for certificates. A change holds for the connections that come after it; streams that are open stay.
 */
export class ServerCertificates implements experimental.CertificateProvider {
  #tls: GatewayTls;
  readonly #identity = new Set<IdentityListener>();
  readonly #authority = new Set<AuthorityListener>();

  /** @throws when key and certificate don't belong together */
  constructor(tls: GatewayTls) {
    createSecureContext({ key: tls.key, cert: tls.certificate });
    this.#tls = tls;
  }

  replace(tls: GatewayTls): void {
    this.#tls = tls;
    for (const listener of this.#authority) this.#tellAuthority(listener);
    for (const listener of this.#identity) this.#tellIdentity(listener);
  }

  /** Credentials that follow every change; whether agents must show a certificate (mTLS, B3) is settled at the start. */
  credentials(): ServerCredentials {
    const mutual = this.#tls.clientAuthority !== null;
    // grpc-js names its first two parameters the other way round than it uses them
    const create = experimental.createCertificateProviderServerCredentials as unknown as (
      identity: experimental.CertificateProvider,
      authority: experimental.CertificateProvider | null,
      requireClientCertificate: boolean,
    ) => ServerCredentials;
    return create(this, mutual ? this : null, mutual);
  }

  addCaCertificateListener(listener: AuthorityListener): void {
    this.#authority.add(listener);
    process.nextTick(() => this.#tellAuthority(listener)); // grpc-js listens to its own credentials only after this call
  }

  removeCaCertificateListener(listener: AuthorityListener): void {
    this.#authority.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#identity.add(listener);
    process.nextTick(() => this.#tellIdentity(listener));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identity.delete(listener);
  }

  #tellIdentity(listener: IdentityListener): void {
    listener({ certificate: Buffer.from(this.#tls.certificate), privateKey: Buffer.from(this.#tls.key) });
  }

  #tellAuthority(listener: AuthorityListener): void {
    const { clientAuthority } = this.#tls;
    listener(clientAuthority === null ? null : { caCertificate: Buffer.from(clientAuthority) });
  }
}
