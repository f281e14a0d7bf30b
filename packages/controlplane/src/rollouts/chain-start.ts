import type { ChainProfile, ChainRuntime } from '@hoodcloud/contracts/files/chain-profile';
import type { TrustRules } from '@hoodcloud/domain/trust/trust-rules';

const HOUR_MS = 3_600_000;

/** How a new binary is tried before the stop; null: as the agent does by itself. */
export function dryStartOf(
  runtime: ChainRuntime | null,
  binaryName: string,
): { readonly args: readonly string[]; readonly timeoutMs: number } | null {
  const said = runtime?.binaries[binaryName]?.dry_start ?? runtime?.dry_start;
  return said === undefined ? null : { args: said.args, timeoutMs: Math.round(said.timeout_seconds * 1000) };
}

/** Whose signatures the chain demands for a binary. */
export function signaturesOf(
  runtime: ChainRuntime | null,
  binaryName: string,
): { readonly required: boolean; readonly publicKeys: readonly string[] } {
  const said = runtime?.binaries[binaryName]?.signatures ?? runtime?.signatures;
  return { required: said?.policy === 'required', publicKeys: said?.public_keys ?? [] };
}

/** What a chain's files demand of a release of one of its binaries. */
export function trustRulesOf(profile: ChainProfile, runtime: ChainRuntime | null, binaryName: string): TrustRules {
  const { minimum_release_age_hours: hours, allowed_origins: origins } = profile.trust;
  return {
    minimumAgeMs: hours === undefined || hours === 0 ? null : hours * HOUR_MS,
    allowedOrigins: origins ?? null,
    signatureRequired: signaturesOf(runtime, binaryName).required,
    manifestKeys: null, // not of the chain's files: who may write those must not choose whose signatures count
    twoPersons: profile.trust.approvals === 'two_persons',
  };
}
