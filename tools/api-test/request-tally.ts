interface Row {
  readonly operation: string;
  readonly method: string;
  readonly path: RegExp;
  readonly statuses: Map<number, number>;
}

/** Counts on the server's side what each operation answered, so that the tester need not be believed. */
export class RequestTally {
  readonly #rows: readonly Row[];
  requests = 0;

  /** @param paths `paths` of the OpenAPI document */
  constructor(paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>) {
    this.#rows = Object.entries(paths)
      // the longer path first: /rollouts/plan is no /rollouts/{id}
      .sort(([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { operationId }]) => ({
          operation: operationId,
          method: method.toUpperCase(),
          path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]*')}$`),
          statuses: new Map<number, number>(),
        })),
      );
  }

  count(method: string, url: string, status: number): void {
    this.requests += 1;
    const path = url.split('?', 1)[0] ?? '';
    const row = this.#rows.find((each) => each.method === method && each.path.test(path));
    row?.statuses.set(status, (row.statuses.get(status) ?? 0) + 1);
  }

  /** Operations that never answered 2xx, and those that failed. */
  complaints(): string[] {
    const silent = this.#rows.filter(({ statuses }) => ![...statuses.keys()].some((status) => status < 300));
    return silent.map(({ operation }) => `${operation} never answered 2xx`);
  }

  /** Operations that answered 5xx. */
  failures(): string[] {
    const failed = this.#rows.filter(({ statuses }) => [...statuses.keys()].some((status) => status >= 500));
    return failed.map(({ operation }) => `${operation} answered 5xx`);
  }

  table(): string {
    const lines = this.#rows.map(({ operation, statuses }) => {
      const counts = [...statuses].sort(([one], [other]) => one - other).map(([status, n]) => `${status}×${n}`);
      return `${operation.padEnd(22)} ${counts.join(' ')}`;
    });
    return lines.join('\n');
  }
}
