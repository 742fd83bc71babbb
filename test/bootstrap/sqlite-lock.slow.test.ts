import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

const EMAIL = "reader@example.com";
const PASSWORD = "correct horse battery staple";

describe("the service on SQLite while another process holds the write lock", () => {
  let installation: Installation;
  let client: RestClient;

  beforeAll(async () => {
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    await installation.start();
    const opened = await installation.commandWithInput(
      PASSWORD,
      ...["account", "create", "--email", EMAIL, "--password-stdin", "--credits", "100", "--key"],
    );
    client = new RestClient(installation.url, String(opened.json.api_key));
  });
  afterAll(() => installation.remove());

  const logIn = async (): Promise<string> => {
    const answer = await fetch(`${installation.url}/login`, {
      method: "POST",
      headers: { origin: installation.url },
      body: new URLSearchParams({ email: EMAIL, password: PASSWORD }),
      redirect: "manual",
    });
    return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  };
  /** The process holds the lock until it is killed. */
  const holdWriteLock = async (): Promise<ChildProcess> => {
    const script = fileURLToPath(new URL("../support/hold-write-lock.mjs", import.meta.url));
    const file = join(installation.dataDir, "panorama.sqlite");
    const holder = spawn(process.execPath, [script, file], { stdio: ["ignore", "pipe", "inherit"] });
    await once(holder.stdout as NodeJS.ReadableStream, "data");
    return holder;
  };

  it("answers every request that reads, and after ten seconds every write with 429 and without a charge", async () => {
    const { id } = await client.create({ prompt: "a foggy ocean test:plain", resolution: "1k", visibility: "public" });
    const { output } = await client.untilKept(id);
    const cookie = await logIn();
    const page = async (path: string) => fetch(installation.url + path, { headers: { cookie }, redirect: "manual" });
    const token = /name="form_token" value="([^"]+)"/.exec(await (await page("/account")).text())?.[1] ?? "";
    expect(token).not.toBe("");
    const before = await (await client.request("/credits")).json();
    const pages = ["/", "/gallery", `/p/${output?.slug}`, "/docs", "/works", "/account", "/readyz"];
    // What the first request of a page makes once does not count: a write waits for the lock for ten seconds only.
    for (const path of pages) await page(path);
    const form = (path: string, fields: Record<string, string>) =>
      fetch(installation.url + path, {
        method: "POST",
        headers: { cookie, origin: installation.url },
        body: new URLSearchParams({ form_token: token, ...fields }),
        redirect: "manual",
      });
    const holder = await holdWriteLock();
    try {
      let isAnswered = false;
      const body = JSON.stringify({ prompt: "a quiet lake test:plain", resolution: "1k" });
      const writes = Promise.all([
        client.request("/panoramas", { method: "POST", body }).finally(() => (isAnswered = true)),
        client.request(`/panoramas/${id}`, { method: "DELETE" }),
        form("/account/keys", { name: "another" }),
        form("/logout", {}),
      ]);
      for (const path of [`/panoramas/${id}`, "/panoramas", "/credits"]) {
        expect([path, (await client.request(path)).status]).toEqual([path, 200]);
      }
      for (const path of pages) expect([path, (await page(path)).status]).toEqual([path, 200]);
      expect(isAnswered).toBe(false); // the creation still waits for the lock, and held up nothing
      const [creation, removal, ...forms] = await writes;
      for (const answer of [creation, removal]) {
        expect([answer.status, answer.headers.get("retry-after"), await answer.json()]).toEqual([
          429,
          "2",
          { error: { code: "rate_limited", message: expect.stringContaining("Nothing was charged") } },
        ]);
      }
      for (const answer of forms) {
        expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "2"]);
        expect(await answer.text()).toContain("Try again in 2 seconds.");
      }
    } finally {
      holder.kill("SIGKILL");
    }
    expect(await (await client.request("/credits")).json()).toEqual(before);
  });
});
