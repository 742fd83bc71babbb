import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Metrics } from "../../adapters/observability/metrics.js";
import { readConfig } from "../../bootstrap/config.js";
import { openDemoAccount } from "../../bootstrap/open-demo-account.js";
import { createService } from "../../bootstrap/service.js";
import { tokens } from "../../bootstrap/tokens.js";
import { FakeHttpProvider, HTTP_TOKEN } from "./fake-http-provider.js";
import { freePort } from "./free-port.js";
import { seamless } from "./test-images.js";

/** The whole service in this process, with a worker as its provider and one account. */
export type ObservedService = {
  /** Sends the account's events there. */
  readonly addWebhook: (url: string) => Promise<void>;
  readonly provider: FakeHttpProvider;
  /** Sends a request with the API key. */
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  /** Creates a panorama and waits until it has ended. Resolves to its id. */
  readonly generate: (headers?: Readonly<Record<string, string>>, body?: object) => Promise<string>;
  /** The answer to `GET /metrics`. */
  readonly scrape: () => Promise<string>;
  readonly metrics: Metrics;
  readonly close: () => Promise<void>;
};

export const startObservedService = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<ObservedService> => {
  const provider = await FakeHttpProvider.start();
  provider.picture = await seamless({ widthPixels: 512, heightPixels: 256 }).jpeg().toBuffer();
  provider.plan = "succeed";
  const folder = await mkdtemp(join(tmpdir(), "panorama-observed-"));
  const port = String(await freePort());
  const config = readConfig({
    DATA_DIR: folder,
    PORT: port,
    TLS_PORT: String(await freePort()),
    PROVIDER: "http",
    HTTP_PROVIDER_URL: provider.baseUrl,
    HTTP_PROVIDER_TOKEN: HTTP_TOKEN,
    PROVIDER_POLL_MS: "100",
    LOG_LEVEL: "silent",
    HTTP_SERVER: "node",
    ...environment,
  })._unsafeUnwrap();
  const service = createService(config);
  await service.loadServer();
  const server = await service.get(tokens.httpServer);
  const application = await service.get(tokens.application);
  await server.start();
  await application.start();
  const access = await openDemoAccount(application, await service.get(tokens.ids));
  if (access === undefined) throw new Error("The folder has an account already.");

  const url = `http://127.0.0.1:${port}`;
  const request = (path: string, { headers, ...init }: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${access.apiKey}`, ...headers } });
  return {
    addWebhook: async (to) => {
      const [owner] = await (await service.get(tokens.stores)).operators.accounts(1, undefined);
      if (owner === undefined) throw new Error("There is no account.");
      (await application.webhooks.createEndpoint(owner.account.id, to))._unsafeUnwrap();
    },
    provider,
    request,
    generate: async (headers = {}, body = { prompt: "A quiet lake at dawn" }) => {
      const created = await request("/api/v1/panoramas", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ resolution: "1k", visibility: "private", ...body }),
      });
      const answer = await created.text();
      if (created.status !== 202) throw new Error(`A creation was answered with ${created.status}: ${answer}`);
      const { id } = JSON.parse(answer) as { id: string };
      await request(`/api/v1/panoramas/${id}`, { headers: { prefer: "wait=20" } });
      return id;
    },
    scrape: async () => (await fetch(`${url}/metrics`)).text(),
    metrics: await service.get(tokens.metrics),
    close: async () => {
      await server.stop(1_000);
      await application.stop(1_000);
      await service.close();
      await provider.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
