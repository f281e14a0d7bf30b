import type { ArtifactProbe, ProbeArtifact } from './artifact-checks.ts';

/** Nobody waits longer for a plan; a server that takes longer serves no fleet. */
const LIMIT_MS = 5000;

/**
 * Asks by HEAD, along redirects. Hosts may reach what the control plane does not, so nothing here refuses a rollout.
 * @param limitMs how long an answer may take
 */
export function probeArtifactByHead(limitMs = LIMIT_MS): ProbeArtifact {
  return async (url) => {
    try {
      const response = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(limitMs) });
      if (!response.ok) return refused(response.status);
      const length = response.headers.get('content-length');
      return length !== null && /^\d+$/.test(length)
        ? { state: 'reachable', size_bytes: Number(length), remark: null }
        : { state: 'reachable', size_bytes: null, remark: 'The server does not say how large it is.' };
    } catch (error) {
      return unreachable(error, limitMs);
    }
  };
}

function refused(status: number): ArtifactProbe {
  const remark = `The server answered ${status}: a host that is answered so fails before anything is stopped.`;
  return { state: 'refused', size_bytes: null, remark };
}

function unreachable(error: unknown, limitMs: number): ArtifactProbe {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  const why = name === 'TimeoutError' ? `no answer in ${limitMs / 1000} s` : (cause?.code ?? cause?.message ?? message);
  const remark = `Not reachable from here (${why}); the hosts may reach it all the same.`;
  return { state: 'unreachable', size_bytes: null, remark };
}
