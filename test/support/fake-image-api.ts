import { image } from "../../adapters/memory/memory-imaging.js";
import { type LocalServer, startLocalServer } from "./local-server.js";

/**
 * A fake of the images API that OpenAI has introduced and others offer, too: one call, whose answer has the picture as
 * base64 or a URL. The prompt chooses the answer: `test:content`, `test:fail`, `test:url`, `test:private-url`. A
 * process may read `/called`, the number of calls, and call `/release`.
 */
export class FakeImageApi {
  readonly requests: { readonly authorization: string | undefined; readonly prompt: string }[] = [];
  /** Requests whose client has closed the connection before the answer. */
  aborted = 0;
  picture: Uint8Array = image("a panorama");
  private gate: Promise<void> = Promise.resolve();
  private open = (): void => {};
  private server!: LocalServer;

  static async start(): Promise<FakeImageApi> {
    const api = new FakeImageApi();
    api.server = await startLocalServer(async (request, response) => {
      if (request.url === "/called") return void response.end(String(api.requests.length));
      if (request.url === "/release") api.release();
      if (request.method === "GET") return void response.end(api.picture);
      const { prompt } = JSON.parse(Buffer.concat(await request.toArray()).toString());
      api.requests.push({ authorization: request.headers.authorization, prompt });
      response.on("close", () => {
        if (!response.writableFinished) api.aborted += 1;
      });
      await api.gate;
      const [status, body] = api.answer(prompt);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    return api;
  }

  get origin(): string {
    return this.server.origin;
  }

  /** Answers nothing until `release`. */
  hold(): void {
    this.gate = new Promise((resolve) => {
      this.open = resolve;
    });
  }

  release(): void {
    this.open();
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private answer(prompt: string): readonly [number, unknown] {
    if (prompt.includes("test:content")) {
      return [400, { error: { code: "moderation_blocked", message: "The safety system has refused the prompt." } }];
    }
    if (prompt.includes("test:fail")) return [500, { error: { code: "server_error", message: "It broke." } }];
    if (prompt.includes("test:private-url")) return [200, { data: [{ url: "https://127.0.0.1/picture.jpg" }] }];
    if (prompt.includes("test:url")) return [200, { data: [{ url: `${this.origin}/picture.jpg` }] }];
    return [200, { data: [{ b64_json: Buffer.from(this.picture).toString("base64") }] }];
  }
}
