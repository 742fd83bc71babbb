import fc from "fast-check";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import type { SignedWebhook } from "../fake-provider.js";
import { answers, FAULTS, NO_PRIMITIVE } from "../faulty-server.js";
import { arrived, type SignedWebhooksUnderTest, type WebhooksUnderTest } from "../webhooks-under-test.js";

const rejected = err({ kind: "unverified_webhook", reason: expect.any(String) });

/** Text and an image, which every provider accepts. */
const anOrder = (n: number) => ({
  taskId: taskId(n),
  request: aCreationRequest({ image_urls: ["https://pictures.example/p.jpg"] }),
});

/** Starts the provider with one upstream task for each test. */
const setUp = <R extends WebhooksUnderTest>(start: (clock: HandClock) => Promise<R>) => {
  const on = {} as { clock: HandClock; remote: R };
  beforeEach(async () => {
    on.clock = new HandClock();
    on.remote = await start(on.clock);
    (await on.remote.provider.submit(anOrder(1)))._unsafeUnwrap();
  });
  afterEach(() => on.remote.close());
  return on;
};

/** What RemoteWebhooks does for every provider, with or without a signature. */
export const describeProviderWebhooks = (name: string, start: (clock: HandClock) => Promise<WebhooksUnderTest>) =>
  describe(`webhooks of ${name}`, () => {
    const on = setUp(start);

    const webhookOf = (n: number): SignedWebhook =>
      on.remote.fake.webhook(on.remote.fake.tasks[n - 1]!, on.clock.now());

    it("are requested at the task's URL of this service", () => {
      const { origin, pathname, searchParams } = new URL(webhookOf(1).url);
      expect(origin + pathname).toBe(`https://panoramas.example/hooks/${name}`);
      expect([...searchParams.keys()]).toEqual(["task", "proof"]);
      expect(searchParams.get("task")).toBe(taskId(1));
    });

    it("identify their task, also when repeated or out of order", async () => {
      await on.remote.provider.submit(anOrder(2));
      const [first, second] = [arrived(webhookOf(1)), arrived(webhookOf(2))];
      for (const [webhook, id] of [
        [second, taskId(2)],
        [first, taskId(1)],
        [first, taskId(1)],
        [second, taskId(2)],
      ] as const) {
        expect(await on.remote.webhooks.taskOf(webhook)).toEqual(ok(id));
      }
    });

    it("are rejected if this service did not issue their URL", async () => {
      const { url, ...webhook } = webhookOf(1);
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
        expect(await on.remote.webhooks.taskOf(arrived({ ...webhook, url: changed.href }))).toEqual(rejected);
      }
    });

    it("are rejected without throwing if body, headers or query are random", async () => {
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
          const taskOf = await on.remote.webhooks.taskOf({ body, headers: { ...headers, ...kept }, query });
          // The format of Skybox's signature is not documented, so the URL alone decides.
          expect(taskOf).toEqual(name === "skybox" && query === searchParams ? ok(taskId(1)) : rejected);
        }),
      );
    });
  });

type Signature<R> = {
  /** The headers that the signature needs. */
  readonly headers: readonly string[];
  /** The header with the signature, and a wrong value with the right format. */
  readonly signature: readonly [header: string, wrong: string];
  readonly keyPath: string;
  /** Makes the provider sign with another key from now on. */
  readonly changeKey: (remote: R) => void;
};

/** What RemoteWebhooks does for a provider that signs its webhooks. */
export const describeSignedWebhooks = <R extends SignedWebhooksUnderTest>(
  name: string,
  start: (clock: HandClock) => Promise<R>,
  { headers, signature, keyPath, changeKey }: Signature<R>,
) =>
  describe(`signed webhooks of ${name}`, () => {
    const on = setUp(start);

    const webhook = (at = on.clock.now()): SignedWebhook => on.remote.fake.webhook(on.remote.fake.tasks[0]!, at);
    const keyReads = () => on.remote.fake.server.requests.filter(({ path }) => path === keyPath).length;

    it.each(headers)("are rejected without %s", async (header) => {
      const genuine = webhook();
      const { [header]: missing, ...rest } = genuine.headers;
      expect(missing).toBeTypeOf("string");
      expect(await on.remote.webhooks.taskOf(arrived({ ...genuine, headers: rest }))).toEqual(rejected);
    });

    it.each(headers)("are rejected with a changed %s", async (header) => {
      const genuine = webhook();
      const other = header === signature[0] ? signature[1] : `${Number(genuine.headers[header]) + 1}`;
      const changed = { ...genuine, headers: { ...genuine.headers, [header]: other } };
      expect(await on.remote.webhooks.taskOf(arrived(changed))).toEqual(rejected);
    });

    it("are rejected if the body has changed", async () => {
      const genuine = webhook();
      expect(await on.remote.webhooks.taskOf(arrived({ ...genuine, body: `${genuine.body} ` }))).toEqual(rejected);
      expect(await on.remote.webhooks.taskOf(arrived({ ...genuine, body: "" }))).toEqual(rejected);
    });

    it("are accepted up to five minutes before or after their signing time", async () => {
      const signedAt = on.clock.now().getTime();
      for (const seconds of [-300, 0, 300]) {
        expect(await on.remote.webhooks.taskOf(arrived(webhook(new Date(signedAt + seconds * 1000))))).toEqual(
          ok(taskId(1)),
        );
      }
      for (const seconds of [-301, 301]) {
        expect(await on.remote.webhooks.taskOf(arrived(webhook(new Date(signedAt + seconds * 1000))))).toEqual(
          rejected,
        );
      }
      const kept = arrived(webhook());
      await on.clock.advance(300_001);
      expect(await on.remote.webhooks.taskOf(kept)).toEqual(rejected);
    });

    it("use keys fetched at the first use and once a day", async () => {
      expect(keyReads()).toBe(0);
      await Promise.all([1, 2, 3].map(() => on.remote.webhooks.taskOf(arrived(webhook()))));
      expect(keyReads()).toBe(1);
      await on.clock.advance(24 * 3_600_000 - 1);
      expect(await on.remote.webhooks.taskOf(arrived(webhook()))).toEqual(ok(taskId(1)));
      expect(keyReads()).toBe(1);
      await on.clock.advance(1);
      expect(await on.remote.webhooks.taskOf(arrived(webhook()))).toEqual(ok(taskId(1)));
      expect(keyReads()).toBe(2);
    });

    it("fetch new keys, at most once a minute, if the old keys do not match", async () => {
      await on.remote.webhooks.taskOf(arrived(webhook()));
      changeKey(on.remote);
      expect(await on.remote.webhooks.taskOf(arrived(webhook()))).toEqual(rejected);
      expect(keyReads()).toBe(1);
      await on.clock.advance(60_000);
      expect(await on.remote.webhooks.taskOf(arrived(webhook()))).toEqual(ok(taskId(1)));
      const forged = { ...webhook(), body: "{}" };
      for (const _ of [1, 2, 3]) expect(await on.remote.webhooks.taskOf(arrived(forged))).toEqual(rejected);
      expect(keyReads()).toBe(2);
    });

    it("cause no fetch of keys if this service did not issue their URL", async () => {
      await on.remote.webhooks.taskOf(
        arrived({ ...webhook(), url: `https://panoramas.example/hooks/${name}?task=${taskId(1)}` }),
      );
      expect(keyReads()).toBe(0);
    });

    it("return unavailable while the keys cannot be fetched", async () => {
      const odd = answers({ keys: NO_PRIMITIVE, key: NO_PRIMITIVE });
      for (const fault of [FAULTS.failsBefore, FAULTS.cutBefore, FAULTS.html, FAULTS.noId, odd]) {
        on.remote.keyFaults.push(fault);
        expect(await on.remote.webhooks.taskOf(arrived(webhook()))).toMatchObject({
          error: { kind: "provider_unavailable" },
        });
        await on.clock.advance(60_000);
      }
      expect(await on.remote.webhooks.taskOf(arrived(webhook()))).toEqual(ok(taskId(1)));
    });
  });
