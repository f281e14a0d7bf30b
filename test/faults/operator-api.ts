/** The HTTP API with an operator's key. */
export class OperatorApi {
  readonly url: string;
  readonly key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.key = key;
  }

  get<Answer>(path: string): Promise<Answer> {
    return this.#call('GET', path);
  }

  /** @throws Error with the problem that the API answers */
  post<Answer>(path: string, body: object): Promise<Answer> {
    return this.#call('POST', path, JSON.stringify(body));
  }

  async #call<Answer>(method: string, path: string, body?: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' };
    const response = await fetch(`${this.url}/api/v1${path}`, { method, headers, ...(body && { body }) });
    if (!response.ok) throw new Error(`${method} ${path} answers ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  }
}
