import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import { useEffect, useRef, useState } from 'react';
import { ApiClient } from '../api/api-client.ts';
import { finishSignIn, isComingBack, signInSettings, type Tokens } from './oidc.ts';

/**
 * Finishes what was begun at the provider, and tries the token before it is taken, so that who may do nothing here reads it
 * where one signs in.
 * @returns whether it is still at it
 */
export function useComingBack(told: {
  readonly onTokens: (tokens: Tokens) => void;
  readonly onRefused: (why: string) => void;
}): boolean {
  const [busy, setBusy] = useState(() => isComingBack() && signInSettings() !== null);
  const latest = useRef(told);
  latest.current = told;
  const begun = useRef(false);
  useEffect(() => {
    const settings = signInSettings();
    if (begun.current || settings === null || !isComingBack()) return;
    begun.current = true; // a code works once
    const finish = async () => {
      const tokens = await finishSignIn(settings);
      await new ApiClient(
        () => tokens.access,
        () => undefined,
      ).get(PATHS.identity);
      return tokens;
    };
    void finish()
      .then(
        (tokens) => latest.current.onTokens(tokens),
        (error: Error) => latest.current.onRefused(error.message),
      )
      .finally(() => setBusy(false));
  }, []);
  return busy;
}
