import fc from "fast-check";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { arrived, type FakeProvider, type SignedWebhook } from "../fake-provider.js";
import { answers, FAULTS, NO_PRIMITIVE } from "../faulty-server.js";
import type { Overrides } from "../providers-under-test.js";
import type { RemoteUnderTest } from "./remote-setup.js";

const rejected = err({ kind: "unverified_webhook", reason: expect.any(String) });

type Start<Fake> = (overrides: Overrides) => Promise<RemoteUnderTest & { readonly fake: Fake }>;

const anOrder = (n: number) => ({ taskId: taskId(n), request: aCreationRequest() });

/** Starts the provider with one upstream task for each test. */
const setUp = <Fake>(start: Start<Fake>) => {
  const on = {} as { clock: HandClock; remote: Awaited<ReturnType<Start<Fake>>> };
  beforeEach(async () => {
    on.clock = new HandClock();
    on.remote = await start({ clock: on.clock, publicUrl: "https://panoramas.example" });
    (await on.remote.provider.submit(anOrder(1)))._unsafeUnwrap();
  });
  afterEach(() => on.remote.close());
  const taskOf = (webhook: Parameters<typeof arrived>[0]) => on.remote.provider.webhooks?.taskOf(arrived(webhook));
  return { on, taskOf };
};

/** What RemoteWebhooks does for every provider, with or without a signature. */
export const describeProviderWebhooks = (name: string, start: Start<FakeProvider>) =>
  describe(`webhooks of ${name}`, () => {
    const { on, taskOf } = setUp(start);

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
      const [first, second] = [webhookOf(1), webhookOf(2)];
      for (const [webhook, id] of [
        [second, taskId(2)],
        [first, taskId(1)],
        [first, taskId(1)],
        [second, taskId(2)],
      ] as const) {
        expect(await taskOf(webhook)).toEqual(ok(id));
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
        expect(await taskOf({ ...webhook, url: changed.href })).toEqual(rejected);
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
          const found = await on.remote.provider.webhooks?.taskOf({ body, headers: { ...headers, ...kept }, query });
          // The format of Skybox's signature is not documented, so the URL alone decides.
          expect(found).toEqual(name === "skybox" && query === searchParams ? ok(taskId(1)) : rejected);
        }),
      );
    });
  });

type Signature<Fake> = {
  /** The headers that the signature needs. */
  readonly headers: readonly string[];
  /** The header with the signature, and a wrong value with the right format. */
  readonly signature: readonly [header: string, wrong: string];
  readonly keyPath: string;
  /** Makes the provider sign with another key from now on. */
  readonly changeKey: (fake: Fake) => void;
};

/** What RemoteWebhooks does for a provider that signs its webhooks. */
export const describeSignedWebhooks = <Fake extends FakeProvider>(
  name: string,
  start: Start<Fake>,
  { headers, signature, keyPath, changeKey }: Signature<Fake>,
) =>
  describe(`signed webhooks of ${name}`, () => {
    const { on, taskOf } = setUp(start);

    const webhook = (at = on.clock.now()): SignedWebhook => on.remote.fake.webhook(on.remote.fake.tasks[0]!, at);
    const keyReads = () => on.remote.fake.server.requests.filter(({ path }) => path === keyPath).length;

    it.each(headers)("are rejected without %s", async (header) => {
      const genuine = webhook();
      const { [header]: missing, ...rest } = genuine.headers;
      expect(missing).toBeTypeOf("string");
      expect(await taskOf({ ...genuine, headers: rest })).toEqual(rejected);
    });

    it.each(headers)("are rejected with a changed %s", async (header) => {
      const genuine = webhook();
      const other = header === signature[0] ? signature[1] : `${Number(genuine.headers[header]) + 1}`;
      const changed = { ...genuine, headers: { ...genuine.headers, [header]: other } };
      expect(await taskOf(changed)).toEqual(rejected);
    });

    it("are rejected if the body has changed", async () => {
      const genuine = webhook();
      expect(await taskOf({ ...genuine, body: `${genuine.body} ` })).toEqual(rejected);
      expect(await taskOf({ ...genuine, body: "" })).toEqual(rejected);
    });

    it("are accepted up to five minutes before or after their signing time", async () => {
      const signedAt = on.clock.now().getTime();
      for (const seconds of [-300, 0, 300]) {
        expect(await taskOf(webhook(new Date(signedAt + seconds * 1000)))).toEqual(ok(taskId(1)));
      }
      for (const seconds of [-301, 301]) {
        expect(await taskOf(webhook(new Date(signedAt + seconds * 1000)))).toEqual(rejected);
      }
      const kept = webhook();
      await on.clock.advance(300_001);
      expect(await taskOf(kept)).toEqual(rejected);
    });

    it("use keys fetched at the first use and once a day", async () => {
      expect(keyReads()).toBe(0);
      await Promise.all([1, 2, 3].map(() => taskOf(webhook())));
      expect(keyReads()).toBe(1);
      await on.clock.advance(24 * 3_600_000 - 1);
      expect(await taskOf(webhook())).toEqual(ok(taskId(1)));
      expect(keyReads()).toBe(1);
      await on.clock.advance(1);
      expect(await taskOf(webhook())).toEqual(ok(taskId(1)));
      expect(keyReads()).toBe(2);
    });

    it("fetch new keys, at most once a minute, if the old keys do not match", async () => {
      await taskOf(webhook());
      changeKey(on.remote.fake);
      expect(await taskOf(webhook())).toEqual(rejected);
      expect(keyReads()).toBe(1);
      await on.clock.advance(60_000);
      expect(await taskOf(webhook())).toEqual(ok(taskId(1)));
      const forged = { ...webhook(), body: "{}" };
      for (const _ of [1, 2, 3]) expect(await taskOf(forged)).toEqual(rejected);
      expect(keyReads()).toBe(2);
    });

    it("cause no fetch of keys if this service did not issue their URL", async () => {
      await taskOf({ ...webhook(), url: `https://panoramas.example/hooks/${name}?task=${taskId(1)}` });
      expect(keyReads()).toBe(0);
    });

    it("return unavailable while the keys cannot be fetched", async () => {
      const odd = answers({ keys: NO_PRIMITIVE, key: NO_PRIMITIVE });
      for (const fault of [FAULTS.failsBefore, FAULTS.cutBefore, FAULTS.html, FAULTS.noId, odd]) {
        on.remote.fake.faults.keys.push(fault);
        expect(await taskOf(webhook())).toMatchObject({
          error: { kind: "provider_unavailable" },
        });
        await on.clock.advance(60_000);
      }
      expect(await taskOf(webhook())).toEqual(ok(taskId(1)));
    });
  });
