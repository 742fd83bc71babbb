import fc from "fast-check";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../builders.js";
import type { SignedWebhook } from "../fake-provider.js";
import { FAULTS } from "../faulty-server.js";
import { HandClock } from "../hand-clock.js";
import { arrived, type SignedWebhooksUnderTest, type WebhooksUnderTest } from "../webhooks-under-test.js";

const isForged = err({ kind: "unverified_webhook", reason: expect.any(String) });

/** What works with every provider: text and a picture. */
const anOrder = (n: number) => ({
  taskId: taskId(n),
  request: aCreationRequest({ image_urls: ["https://pictures.example/p.jpg"] }),
});

/** Starts afresh for each test, with one upstream task. */
const stage = <R extends WebhooksUnderTest>(start: (clock: HandClock) => Promise<R>) => {
  const on = {} as { clock: HandClock; remote: R };
  beforeEach(async () => {
    on.clock = new HandClock();
    on.remote = await start(on.clock);
    (await on.remote.provider.submit(anOrder(1)))._unsafeUnwrap();
  });
  afterEach(() => on.remote.close());
  return on;
};

/** What whoever takes a provider's notices does, whatever that provider signs. */
export const describeProviderWebhooks = (name: string, start: (clock: HandClock) => Promise<WebhooksUnderTest>) =>
  describe(`notices of ${name}`, () => {
    const on = stage(start);

    const webhookOf = (n: number): SignedWebhook =>
      on.remote.fake.webhook(on.remote.fake.tasks[n - 1]!, on.clock.now());

    it("are asked for at our address of the task", () => {
      const { origin, pathname, searchParams } = new URL(webhookOf(1).url);
      expect(origin + pathname).toBe(`https://panoramas.example/hooks/${name}`);
      expect([...searchParams.keys()]).toEqual(["task", "proof"]);
      expect(searchParams.get("task")).toBe(taskId(1));
    });

    it("name their task, however often and in whatever order they come", async () => {
      await on.remote.provider.submit(anOrder(2));
      const [first, second] = [arrived(webhookOf(1)), arrived(webhookOf(2))];
      for (const [notice, id] of [
        [second, taskId(2)],
        [first, taskId(1)],
        [first, taskId(1)],
        [second, taskId(2)],
      ] as const) {
        expect(await on.remote.webhooks.taskOf(notice)).toEqual(ok(id));
      }
    });

    it("are forged if their address is not one of ours", async () => {
      const { url, ...notice } = webhookOf(1);
      const changes: ((query: URLSearchParams) => void)[] = [
        (query) => query.set("task", taskId(2)),
        (query) => query.delete("task"),
        (query) => query.delete("proof"),
        (query) => query.set("proof", "00".repeat(32)),
        (query) => query.set("proof", `${query.get("proof")}00`),
        (query) => query.set("proof", query.get("proof")?.slice(0, -2) ?? ""),
      ];
      for (const change of changes) {
        const changed = new URL(url);
        change(changed.searchParams);
        expect(await on.remote.webhooks.taskOf(arrived({ ...notice, url: changed.href }))).toEqual(isForged);
      }
    });

    it("may be anything: what is not genuine is forged, and nothing is thrown", async () => {
      const genuine = webhookOf(1);
      const { searchParams } = new URL(genuine.url);
      const headerNames = [...Object.keys(genuine.headers), "__proto__"];
      const bytes = fc.uint8Array({ maxLength: 200 });
      const garbage = fc.record({
        body: bytes,
        headers: fc.dictionary(
          fc.constantFrom(...headerNames),
          bytes.map((value) => Buffer.from(value).toString("latin1")),
        ),
        keptHeaders: fc.subarray(headerNames),
        query: fc.constantFrom(searchParams, new URLSearchParams("task=%00&proof=zz"), new URLSearchParams()),
      });
      await fc.assert(
        fc.asyncProperty(garbage, async ({ body, headers, keptHeaders, query }) => {
          const kept = Object.fromEntries(keptHeaders.map((header) => [header, genuine.headers[header]]));
          const taken = await on.remote.webhooks.taskOf({ body, headers: { ...headers, ...kept }, query });
          // Skybox signs nothing that we could check: whatever comes to our address counts.
          expect(taken).toEqual(name === "skybox" && query === searchParams ? ok(taskId(1)) : isForged);
        }),
      );
    });
  });

type Signature<R> = {
  /** What the signature needs, each. */
  readonly headers: readonly string[];
  /** The header of them that holds the signature, and one of the right shape that is wrong. */
  readonly signature: readonly [header: string, wrong: string];
  readonly keyPath: string;
  /** The provider signs with another key from now on. */
  readonly changeKey: (remote: R) => void;
};

/** What is to be seen of a signature of the provider's own. */
export const describeSignedWebhooks = <R extends SignedWebhooksUnderTest>(
  name: string,
  start: (clock: HandClock) => Promise<R>,
  { headers, signature, keyPath, changeKey }: Signature<R>,
) =>
  describe(`signed notices of ${name}`, () => {
    const on = stage(start);

    const notice = (at = on.clock.now()): SignedWebhook => on.remote.fake.webhook(on.remote.fake.tasks[0]!, at);
    const keysAsked = () => on.remote.fake.server.asked.filter(({ path }) => path === keyPath).length;

    it.each(headers)("are forged without %s", async (header) => {
      const genuine = notice();
      const { [header]: missing, ...rest } = genuine.headers;
      expect(missing).toBeTypeOf("string");
      expect(await on.remote.webhooks.taskOf(arrived({ ...genuine, headers: rest }))).toEqual(isForged);
    });

    it.each(headers)("are forged with another %s", async (header) => {
      const genuine = notice();
      const other = header === signature[0] ? signature[1] : `${Number(genuine.headers[header]) + 1}`;
      const changed = { ...genuine, headers: { ...genuine.headers, [header]: other } };
      expect(await on.remote.webhooks.taskOf(arrived(changed))).toEqual(isForged);
    });

    it("are forged if a byte of the body is another", async () => {
      const genuine = notice();
      expect(await on.remote.webhooks.taskOf(arrived({ ...genuine, body: `${genuine.body} ` }))).toEqual(isForged);
      expect(await on.remote.webhooks.taskOf(arrived({ ...genuine, body: "" }))).toEqual(isForged);
    });

    it("hold for five minutes, by a clock that is up to five minutes before or behind ours", async () => {
      const signedAt = on.clock.now().getTime();
      for (const seconds of [-300, 0, 300]) {
        expect(await on.remote.webhooks.taskOf(arrived(notice(new Date(signedAt + seconds * 1000))))).toEqual(
          ok(taskId(1)),
        );
      }
      for (const seconds of [-301, 301]) {
        expect(await on.remote.webhooks.taskOf(arrived(notice(new Date(signedAt + seconds * 1000))))).toEqual(isForged);
      }
      const kept = arrived(notice());
      await on.clock.advance(300_001);
      expect(await on.remote.webhooks.taskOf(kept)).toEqual(isForged);
    });

    it("are checked with keys that are fetched when they are first needed, once a day", async () => {
      expect(keysAsked()).toBe(0);
      await Promise.all([1, 2, 3].map(() => on.remote.webhooks.taskOf(arrived(notice()))));
      expect(keysAsked()).toBe(1);
      await on.clock.advance(24 * 3_600_000 - 1);
      expect(await on.remote.webhooks.taskOf(arrived(notice()))).toEqual(ok(taskId(1)));
      expect(keysAsked()).toBe(1);
      await on.clock.advance(1);
      expect(await on.remote.webhooks.taskOf(arrived(notice()))).toEqual(ok(taskId(1)));
      expect(keysAsked()).toBe(2);
    });

    it("are checked with new keys when the old ones do not fit, but those are asked for once a minute at most", async () => {
      await on.remote.webhooks.taskOf(arrived(notice()));
      changeKey(on.remote);
      expect(await on.remote.webhooks.taskOf(arrived(notice()))).toEqual(isForged);
      expect(keysAsked()).toBe(1);
      await on.clock.advance(60_000);
      expect(await on.remote.webhooks.taskOf(arrived(notice()))).toEqual(ok(taskId(1)));
      const forged = { ...notice(), body: "{}" };
      for (const _ of [1, 2, 3]) expect(await on.remote.webhooks.taskOf(arrived(forged))).toEqual(isForged);
      expect(keysAsked()).toBe(2);
    });

    it("lead nobody to fetch keys whose address is not ours", async () => {
      await on.remote.webhooks.taskOf(
        arrived({ ...notice(), url: `https://panoramas.example/hooks/${name}?task=${taskId(1)}` }),
      );
      expect(keysAsked()).toBe(0);
    });

    it("cannot be checked while the keys cannot be had", async () => {
      for (const fault of [FAULTS.failsBefore, FAULTS.cutBefore, FAULTS.html, FAULTS.noId]) {
        on.remote.keyFaults.push(fault);
        expect(await on.remote.webhooks.taskOf(arrived(notice()))).toMatchObject({
          error: { kind: "provider_unavailable" },
        });
        await on.clock.advance(60_000);
      }
      expect(await on.remote.webhooks.taskOf(arrived(notice()))).toEqual(ok(taskId(1)));
    });
  });
