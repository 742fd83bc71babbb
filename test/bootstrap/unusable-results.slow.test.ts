import { writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { RestClient } from "../support/rest-client.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { noise, plain, seamless } from "../support/test-images.js";

const size = { widthPixels: 1024, heightPixels: 512 };
const SECONDS_MAX = 30;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Writes for ever, or until the client has gone. */
const drip = (response: ServerResponse, milliseconds: number, bytes: number): void => {
  response.writeHead(200, { "content-type": "image/jpeg" });
  const timer = setInterval(() => response.write(Buffer.alloc(bytes, 0xff)), milliseconds);
  response.on("close", () => clearInterval(timer));
};

const panorama = seamless(size).jpeg().toBuffer();

/** How a result is sent, by the name of its file. */
const RESULTS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  html: (response) => response.setHeader("content-type", "text/html").end("<!doctype html><title>Log in</title>"),
  json: (response) => response.setHeader("content-type", "application/json").end('{"detail": "not ready"}'),
  truncated: async (response) => response.end((await panorama).subarray(0, 5_000)),
  square: async (response) =>
    response.end(
      await seamless({ ...size, heightPixels: 1024 })
        .jpeg()
        .toBuffer(),
    ),
  black: async (response) => response.end(await plain(size, "black").jpeg().toBuffer()),
  "noise-at-the-poles": async (response) => response.end(await noise(size, 0).jpeg().toBuffer()),
  "380-mebibytes": (response) => drip(response, 1, 8 * 1024 * 1024),
  endless: (response) => drip(response, 100, 10),
  silent: (response) => response.writeHead(200).flushHeaders(),
  "private-address": (response) => response.writeHead(302, { location: "https://10.0.0.1/secret.jpg" }).end(),
  gone: (response) => response.writeHead(404).end(),
  good: async (response) => response.end(await panorama),
};

/** A worker (`PROVIDER=http`) whose generations are finished at once, each with the result that its prompt names. */
const startWorker = async (): Promise<LocalServer> => {
  const prompts = new Map<string, string>();
  const worker: LocalServer = await startLocalServer(async (request, response) => {
    const [, kind, id = ""] = (request.url ?? "").split("/");
    const text = Buffer.concat(await request.toArray()).toString();
    if (kind === "results") return void (await RESULTS[id]?.(response));
    if (request.method === "PUT") prompts.set(id, JSON.parse(text).prompt);
    const image_url = `${worker.origin}/results/${prompts.get(id)}`;
    const generation = { id, status: "succeeded", image_url };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(kind === "abilities" ? { images_min: 0, images_max: 0 } : generation));
  });
  return worker;
};

describe("the service with a provider whose results are unusable", () => {
  it("refunds all unusable results within 30 seconds, and accepts the usable one", async () => {
    const worker = await startWorker();
    const settings = join(await scratchFolder(), "settings.json");
    await writeFile(settings, JSON.stringify({ results: { poleDeviationMax: 65 } }));
    const installation = await migratedInstallation({
      PROVIDER: "http",
      HTTP_PROVIDER_URL: worker.origin,
      PROVIDER_MAX_CONCURRENT: "100",
      PROVIDER_POLL_MS: "200",
      DEMO: "false",
      PANORAMA_SETTINGS: settings,
    });
    ends.push(
      () => worker.close(),
      () => installation.remove(),
    );
    await installation.start();

    const accounts: { readonly client: RestClient; good: number }[] = [];
    const names = Object.keys(RESULTS);
    // An account may have five tasks in processing.
    for (let n = 0; n < names.length; n += 5) {
      const { client } = await installation.customer(`a${n}@example.com`, 100);
      accounts.push({ client, good: 0 });
    }
    const outcomes = await Promise.all(
      names.map(async (name, n) => {
        const account = accounts[Math.floor(n / 5)];
        if (account === undefined) throw new Error("There are too few accounts.");
        const { id } = await account.client.create({ prompt: name, resolution: "1k" });
        const createdAt = performance.now();
        const { status, error, output } = await account.client.untilKept(id);
        const seconds = (performance.now() - createdAt) / 1000;
        if (status === "succeeded") account.good += 1;
        return { name, status, code: error?.code, saved: output?.storage_status, inTime: seconds <= SECONDS_MAX };
      }),
    );

    expect(outcomes).toEqual(
      names.map((name) =>
        name === "good"
          ? { name, status: "succeeded", code: undefined, saved: "saved", inTime: true }
          : { name, status: "failed", code: "generation_failed", saved: undefined, inTime: true },
      ),
    );
    for (const { client, good } of accounts) expect(await client.credits()).toBe(100 - 4 * good);
    expect((await installation.answer("ledger", "verify")).status).toBe(0);
    expect(await installation.end("SIGTERM")).toBe(0);
    expect(installation.log).not.toContain("work_failed");
  });
});
