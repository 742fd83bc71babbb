/** A panorama task as the service shows it. */
export type Task = {
  id: string;
  status: string;
  credits_charged: number;
  created_at: string;
  finished_at?: string;
  resolution: string;
  visibility: string;
  prompt?: string;
  image_urls: string[];
  seed?: number;
  metadata: Record<string, string>;
  output?: { image_url: string; slug: string; viewer_url: string; storage_status: string; thumbnail_url?: string };
  error?: { code: string; message: string; reason?: string; param?: string };
};

/** A REST client that uses only fetch, as a program of a customer would. Honours retry-after. */
export class RestClient {
  readonly #api: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#api = `${url}/api/v1`;
    this.#key = key;
  }

  /** Sends one request and returns any answer. */
  request(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.#api + path, { ...init, headers: { authorization: `Bearer ${this.#key}`, ...init.headers } });
  }

  async create(body: object, headers: Record<string, string> = {}): Promise<Task> {
    const init = { method: "POST", body: JSON.stringify(body), headers };
    return this.#expect(202, "/panoramas", init);
  }

  async credits(): Promise<number> {
    return (await this.#expect<{ remaining_credits: number }>(200, "/credits")).remaining_credits;
  }

  async upload(files: Blob[]): Promise<string[]> {
    const form = new FormData();
    for (const file of files) form.append("files", file);
    return (await this.#expect<{ image_urls: string[] }>(200, "/images", { method: "POST", body: form })).image_urls;
  }

  /** Reads the task until it has failed or its image is no longer uploading. */
  async untilKept(id: string): Promise<Task> {
    for (;;) {
      const task = await this.#expect<Task>(200, `/panoramas/${id}`, { headers: { prefer: "wait=30" } });
      if (task.status === "failed") return task;
      if (task.output !== undefined && task.output.storage_status !== "uploading") return task;
      await pause(task.output === undefined ? 0 : 500);
    }
  }

  async #expect<T>(status: number, path: string, init: RequestInit = {}): Promise<T> {
    for (;;) {
      const response = await this.request(path, init);
      const retryAfter = response.headers.get("retry-after");
      const body = await response.text();
      if (response.status === status) return JSON.parse(body) as T;
      if (retryAfter === null) throw new Error(`${init.method ?? "GET"} ${path}: ${response.status} ${body}`);
      await pause(Number(retryAfter) * 1000);
    }
  }
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
