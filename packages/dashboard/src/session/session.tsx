import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from 'react';
import { ApiClient } from '../api/api-client.ts';
import { endSession, refreshTokens, signInSettings, type Tokens } from './oidc.ts';
import { useComingBack } from './use-coming-back.ts';

const STORED_AS = 'hoodcloud-api-key';
/** Before a token expires a new one is asked for. */
const BEFORE_EXPIRY_MS = 30_000;

/** By what one is signed in. */
export type Credential =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'oidc'; readonly tokens: Tokens };

interface Session {
  readonly api: ApiClient;
  /** Forgets key and tokens; `why` is shown where one signs in. */
  readonly signOut: (why?: string) => void;
}

interface Entry {
  /** Why one has to sign in again; null the first time. */
  readonly why: string | null;
  /** The provider's answer is being looked at. */
  readonly busy: boolean;
  readonly signIn: (key: string) => void;
}

const SessionContext = createContext<Session | null>(null);

/** @throws when used outside of a session */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('there is no session here');
  return session;
}

/**
 * A key lives in this tab's session storage alone, tokens in memory alone: closing the tab forgets both, and no cookie means
 * that no other site can act with them.
 */
export function SessionGate({
  children,
  signIn,
}: {
  readonly children: ReactNode;
  readonly signIn: (entry: Entry) => ReactNode;
}) {
  const [credential, setCredential] = useState(storedKey);
  const [why, setWhy] = useState<string | null>(null);
  const leave = (reason: string | null) => {
    sessionStorage.removeItem(STORED_AS);
    setWhy(reason);
    setCredential(null);
  };
  const busy = useComingBack({ onTokens: (tokens) => setCredential({ kind: 'oidc', tokens }), onRefused: leave });
  useFreshTokens(credential, setCredential, leave);
  const session = useSessionOf(credential, leave);
  if (session === null) {
    const enter = (key: string) => {
      sessionStorage.setItem(STORED_AS, key);
      setCredential({ kind: 'key', key });
    };
    return signIn({ why, busy, signIn: enter });
  }
  return <SessionContext value={session}>{children}</SessionContext>;
}

function storedKey(): Credential | null {
  const key = sessionStorage.getItem(STORED_AS);
  return key === null ? null : { kind: 'key', key };
}

/** One session from signing in to signing out, however often its token is renewed meanwhile. */
function useSessionOf(credential: Credential | null, leave: (why: string | null) => void): Session | null {
  const latest = useRef({ credential, leave });
  latest.current = { credential, leave };
  const kind = credential?.kind ?? null;
  return useMemo(() => {
    if (kind === null) return null;
    const secret = () => {
      const { credential: now } = latest.current;
      return now === null ? '' : now.kind === 'key' ? now.key : now.tokens.access;
    };
    const signOut = (reason?: string) => {
      const { credential: before } = latest.current;
      const settings = signInSettings();
      latest.current.leave(reason ?? null);
      if (reason === undefined && before?.kind === 'oidc' && settings !== null) endSession(settings, before.tokens);
    };
    const refused = (sentence: string) =>
      signOut(
        kind === 'key' ? 'The key is unknown or was revoked. Sign in with another one.' : `Sign in again: ${sentence}`,
      );
    return { api: new ApiClient(secret, refused), signOut };
  }, [kind]);
}

/** Renews a token before it expires, where the provider gave the means to. */
function useFreshTokens(
  credential: Credential | null,
  onTokens: (credential: Credential) => void,
  leave: (why: string) => void,
): void {
  const latest = useRef({ onTokens, leave });
  latest.current = { onTokens, leave };
  const tokens = credential?.kind === 'oidc' ? credential.tokens : null;
  useEffect(() => {
    const settings = signInSettings();
    if (settings === null || tokens === null || tokens.refresh === null || tokens.expiresAt === null) return;
    let over = false;
    const timer = setTimeout(
      () =>
        void refreshTokens(settings, tokens).then(
          (fresh) => over || latest.current.onTokens({ kind: 'oidc', tokens: fresh }),
          (error: Error) => over || latest.current.leave(error.message),
        ),
      Math.max(1000, tokens.expiresAt - Date.now() - BEFORE_EXPIRY_MS),
    );
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [tokens]);
}
