/** Talks to the server. The only module that calls fetch. */

import type { Todo } from "../state/types";

/** A failed request, with the status that the server sent, or 0 when it could not be reached. */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }

  /** Whether trying again later may help. */
  get retryable(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export interface ClientOptions {
  baseUrl: string;
  /** Milliseconds until a request is aborted. */
  timeout?: number;
  token?: () => Promise<string>;
}

const DEFAULT_TIMEOUT = 8_000; // slow trains need about six seconds

export class TodoClient {
  constructor(private readonly options: ClientOptions) {}

  async list(): Promise<Todo[]> {
    return this.request("GET", "/todos");
  }

  async save(todo: Todo): Promise<Todo> {
    return this.request("PUT", `/todos/${encodeURIComponent(todo.id)}`, todo);
  }

  async remove(id: string): Promise<void> {
    await this.request("DELETE", `/todos/${encodeURIComponent(id)}`);
  }

  /** Sends a request with a bearer token and aborts it after the timeout. */
  private async request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), this.options.timeout ?? DEFAULT_TIMEOUT);
    try {
      const response = await fetch(this.options.baseUrl + path, {
        method,
        signal: abort.signal,
        headers: await this.headers(),
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      if (!response.ok) {
        throw new RequestError(response.status, await response.text());
      }
      return (await response.json()) as T;
    } catch (error) {
      throw error instanceof RequestError ? error : new RequestError(0, String(error));
    } finally {
      clearTimeout(timer);
    }
  }

  private async headers(): Promise<Record<string, string>> {
    const token = await this.options.token?.();
    return token ? { Authorization: `Bearer ${token}` } : {};
  }
}
