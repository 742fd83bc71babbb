import { createHash, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fakeModeration } from "../support/fake-moderation.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { freshDatabase } from "../support/postgres.js";
import { RestClient, type Task } from "../support/rest-client.js";

const PANORAMAS = 8;
const CUSTOMERS = 2;
const CREDITS = 100;
const PRICE = 4;
const TIMEOUT_MILLISECONDS = 300;
/** The calls about results at which the service is killed, before they are answered. */
const KILLS = [2, 7];

/** What pictures get, in the order in which they are seen for the first time. */
const VERDICTS = ["allow", "block", "allow", "review"] as const;

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("a moderation that hangs, lies, answers 500 and answers late, and a service that is killed meanwhile", () => {
  it.concurrent.for(["SQLite", "PostgreSQL"])(
    "costs no credit, and shows nothing that is blocked, on %s",
    async (database, { onTestFinished }) => {
      const moderation = await fakeModeration();
      onTestFinished(async () => void (await moderation.close()));
      const installation = await migratedInstallation({
        ...(database === "PostgreSQL" && { DATABASE_URL: await freshDatabase() }),
        DEMO: "false",
        LEASE_MS: "1000",
        LOCAL_PROVIDER_DELAY_MS: "100",
        MODERATION: "http",
        MODERATION_URL: moderation.url,
        MODERATION_API_KEY: "key",
        MODERATION_TIMEOUT_MS: String(TIMEOUT_MILLISECONDS),
      });
      onTestFinished(() => installation.remove());

      const accounts: string[] = [];
      const clients: RestClient[] = [];
      for (let n = 0; n < CUSTOMERS; n += 1) {
        const email = `customer${n}@example.com`;
        const opened = await installation.answer(
          ...["account", "create", "--email", email, "--credits", String(CREDITS), "--key"],
        );
        accounts.push(String(opened.json.account_id));
        clients.push(new RestClient(installation.url, String(opened.json.api_key)));
      }
      await installation.start();

      // Every third call is not answered as it should be. A late answer allows everything: it must not count.
      let [calls, results] = [0, 0];
      let killed: Promise<unknown> = Promise.resolve();
      const verdicts = new Map<string, (typeof VERDICTS)[number] | undefined>();
      const verdictOn = (picture: Uint8Array) => {
        const digest = createHash("sha256").update(picture).digest("hex");
        if (!verdicts.has(digest)) verdicts.set(digest, VERDICTS[verdicts.size % VERDICTS.length]);
        return verdicts.get(digest);
      };
      moderation.state.behaviour = (response, part) => {
        calls += 1;
        const picture = part.data === undefined ? undefined : Buffer.from(part.data, "base64");
        if (picture !== undefined && KILLS.includes(++results)) {
          killed = installation.end("SIGKILL").then(() => installation.start());
          return;
        }
        const answer = (body: string, status = 200) => response.writeHead(status).end(body);
        const allowed = JSON.stringify({ answer: "allow" });
        const faults = [
          () => {}, // hangs
          () => answer(JSON.stringify({ answer: "certainly" })),
          () => answer(allowed, 500),
          () => void setTimeout(() => answer(allowed), TIMEOUT_MILLISECONDS * 2),
          () => answer(allowed.slice(0, 9)),
          () => response.destroy(),
        ];
        if (calls % 3 === 1) return faults[Math.floor(calls / 3) % faults.length]?.();
        return answer(picture === undefined ? allowed : JSON.stringify({ answer: verdictOn(picture) }));
      };

      /** As a careful client does it: with the same idempotency key until it is accepted. */
      const create = async (client: RestClient, n: number): Promise<string> => {
        const headers = { "idempotency-key": randomUUID() };
        const body = JSON.stringify({
          prompt: `a foggy ocean with ${n} boats test:plain`,
          resolution: "1k",
          seed: n,
          visibility: "public",
        });
        for (;;) {
          const answer = await client.request("/panoramas", { method: "POST", body, headers }).catch(() => undefined);
          if (answer?.status === 202) return ((await answer.json()) as Task).id;
          if (answer !== undefined) expect([429, 502, 503]).toContain(answer.status);
          await pause(Math.max(200, Number(answer?.headers.get("retry-after") ?? 0) * 1000));
        }
      };
      const ids = await Promise.all(
        clients.map(async (client, customer) => {
          const own: string[] = [];
          for (let n = customer; n < PANORAMAS; n += CUSTOMERS) own.push(await create(client, n));
          return own;
        }),
      );

      // What strangers and owners see until all have ended.
      const inGallery = new Set<string>();
      const withOutput = new Set<string>();
      const tasks = new Map<string, Task>();
      const look = async () => {
        const gallery = await (await fetch(`${installation.url}/gallery`)).text();
        for (const [, slug = ""] of gallery.matchAll(/href="\/p\/([\w-]+)"/g)) inGallery.add(slug);
        for (const client of clients) {
          const listed = await client.request("/panoramas?limit=50");
          if (listed.status !== 200) continue;
          for (const task of ((await listed.json()) as { data: Task[] }).data) {
            tasks.set(task.id, task);
            if (task.output !== undefined) withOutput.add(task.id);
          }
        }
      };
      const isOver = ({ status, output }: Task) =>
        status === "failed" || (output && output.storage_status !== "uploading");
      while (tasks.size < PANORAMAS || ![...tasks.values()].every(isOver)) {
        await look().catch(() => undefined); // it is killed just now
        await pause(3_000);
      }
      await killed;
      await look();

      expect(results).toBeGreaterThan(Math.max(...KILLS));
      expect(verdicts.size).toBe(PANORAMAS);
      expect([...tasks.keys()].sort()).toEqual(ids.flat().sort()); // none twice, and none is missing
      for (const task of tasks.values()) {
        if (task.status === "failed") {
          expect(task.error).toMatchObject({ reason: "content_refused" });
          expect(withOutput.has(task.id)).toBe(false);
          continue;
        }
        const { slug = "", thumbnail_url = "" } = task.output ?? {};
        const verdict = verdictOn(new Uint8Array(await (await fetch(thumbnail_url)).arrayBuffer()));
        expect(["allow", "review"]).toContain(verdict);
        const isShown = verdict === "allow";
        expect([task.visibility, inGallery.has(slug)]).toEqual(isShown ? ["public", true] : ["private", false]);
        expect((await fetch(`${installation.url}/p/${slug}`)).status).toBe(isShown ? 200 : 404);
      }
      expect(withOutput.size).toBe((PANORAMAS * 3) / 4);
      for (const [n, client] of clients.entries()) {
        const kept = ids[n]?.filter((id) => withOutput.has(id)).length ?? 0;
        expect(await client.credits()).toBe(CREDITS - kept * PRICE);
      }
      expect(await installation.answer("ledger", "verify")).toMatchObject({ status: 0 });
    },
  );
});
