import { useSearchParams } from 'react-router';

/**
 * A list's filter, kept in the address: it can be sent to somebody, and going back brings it again. What is not set is ''.
 * @returns the values by name, and what changes some of them
 */
export function useUrlFilter<Name extends string>(
  names: readonly Name[],
): [Readonly<Record<Name, string>>, (change: Readonly<Partial<Record<Name, string | null>>>) => void] {
  const [params, setParams] = useSearchParams();
  const values = Object.fromEntries(names.map((name) => [name, params.get(name) ?? ''])) as Record<Name, string>;
  const set = (change: Readonly<Partial<Record<Name, string | null>>>) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries<string | null | undefined>(change)) {
          if (value) after.set(name, value);
          else after.delete(name);
        }
        return after;
      },
      { replace: true },
    );
  return [values, set];
}
