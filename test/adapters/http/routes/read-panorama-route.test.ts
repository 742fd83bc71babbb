import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { aSucceededTask, noon, secondsAfter } from "../../../../adapters/contracts/support/builders.js";
import { apiKeys } from "../../../../application/accounts/api-keys.js";
import { type Customer, HttpService } from "../../../support/http-service.js";

const readJson = async (response: Response) => (await response.json()) as Record<string, unknown>;

describe("the reading routes", () => {
  let service: HttpService;
  let customer: Customer;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterEach(() => service.end());

  const read = (id: string, headers: Record<string, string> = {}) =>
    service.request(`/panoramas/${id}`, customer, { headers });

  describe("GET /panoramas/{id}", () => {
    it("returns queue_position and estimated_seconds of a waiting task", async () => {
      service.provider.concurrencyMax = 1;
      const [first, second, third] = [
        await service.created(customer),
        await service.created(customer),
        await service.created(customer),
      ];
      const forecastOf = async (id: string, headers: Record<string, string> = {}) => {
        const { queue_position, estimated_seconds } = await readJson(await read(id, headers));
        return [queue_position, estimated_seconds];
      };
      const all = () => Promise.all([first, second, third].map((id) => forecastOf(id)));
      expect(await all()).toEqual([
        [undefined, undefined],
        [0, undefined],
        [1, undefined],
      ]);
      service.generationTime.add(aSucceededTask({ submittedAt: noon, succeededAt: secondsAfter(noon, 20) }));
      await service.clock.advance(3_000);
      expect(await all()).toEqual([
        [undefined, 17],
        [0, 40],
        [1, 60],
      ]);
      const { data } = await readJson(await service.request("/panoramas", customer));
      expect(data).toEqual([first, second, third].toReversed().map((id) => expect.objectContaining({ id })));
      for (const task of data as object[]) expect(Object.keys(task)).not.toContain("queue_position");
    });

    it("returns every field of a creation, unchanged in each state", async () => {
      const fields = {
        resolution: "2k",
        visibility: "public",
        prompt: "a lake",
        image_urls: ["https://example.com/a.jpg"],
        seed: 7,
        metadata: { order: "A-17", shop: "main" },
      };
      const id = await service.created(customer, fields);
      const shown = { id, credits_charged: 6, created_at: noon.toISOString(), ...fields };
      expect(await readJson(await read(id))).toEqual({ ...shown, status: "processing" });
      await service.settle();
      const finished_at = secondsAfter(noon, 5).toISOString();
      const done = { ...shown, status: "succeeded", finished_at, output: expect.anything() };
      const { output } = (await readJson(await read(id))) as { output: { slug: string; viewer_url: string } };
      expect(output.viewer_url).toBe(`https://panoramas.example/p/${output.slug}`);
      expect(await readJson(await read(id))).toEqual(done);
      await service.keep();
      expect(await readJson(await read(id))).toEqual(done);
    });

    /** The task succeeds. Its image is not stored yet, and due. */
    const settleWithoutStorage = async () => {
      service.storage.available = false;
      await service.settle();
      service.storage.available = true;
      await service.clock.advance(1_000);
    };

    it.each([
      ["uploading", { download: "no_image" }, /^https:\/\/temporary\.example\//],
      ["saved", { download: "image" }, /^https:\/\/objects\.example\/panoramas\//],
      ["saved-no-thumb", { download: "image_without_thumbnail" }, /^https:\/\/objects\.example\/panoramas\//],
      ["failed", { download: "no_image" }, /^https:\/\/temporary\.example\//],
      ["expired", { download: "gone" }, /^https:\/\/temporary\.example\//],
    ] as const)("returns the storage status %s with the matching URL", async (storageStatus, script, url) => {
      const id = await service.created(customer);
      await settleWithoutStorage();
      service.provider.play(script);
      if (storageStatus !== "uploading") await service.keep();
      const [{ slug } = {}] = await service.database.sql("select slug from task");
      const viewer_url = `https://panoramas.example/works/${slug}`;
      expect(await readJson(await read(id))).toMatchObject({
        status: "succeeded",
        output: { storage_status: storageStatus, image_url: expect.stringMatching(url), slug, viewer_url },
      });
    });
  });

  describe("GET /panoramas/{id} with Prefer: wait", () => {
    /** Resolves when the read is waiting. */
    const waiting = async () => {
      while (service.clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
    };

    it("answers when the task leaves processing", async () => {
      const id = await service.created(customer);
      const answer = read(id, { prefer: "wait=30" });
      await waiting();
      await service.settle();
      const response = await answer;
      expect(response.headers.get("preference-applied")).toBe("wait=30");
      expect(await readJson(response)).toMatchObject({ id, status: "succeeded" });
    });

    it.each([
      ["wait=10", 10],
      ["wait=100", 30],
      ['respond-async, Wait="7"; foo', 7],
    ])("answers %s with the unfinished task after %i seconds, as one read", async (prefer, seconds) => {
      const id = await service.created(customer);
      const answer = read(id, { prefer });
      await waiting();
      await service.clock.advance(seconds * 1000 - 1);
      expect(service.clock.sleeping).toBe(1);
      await service.clock.advance(1);
      const response = await answer;
      expect(response.headers.get("preference-applied")).toBe(`wait=${seconds}`);
      expect(await readJson(response)).toMatchObject({ status: "processing" });
      expect((await read(id)).headers.get("ratelimit")).toMatch(/^"read";r=58;/);
    });

    it.each(["wait", "wait=", "wait=-1", "wait=1.5", "wait=soon, wait=5", "return=minimal", ",;=,"])(
      "ignores Prefer: %s",
      async (prefer) => {
        const response = await read(await service.created(customer), { prefer });
        expect([response.status, response.headers.has("preference-applied")]).toEqual([200, false]);
      },
    );

    it("ignores moves of the queue, and returns the place at the end of the wait", async () => {
      service.provider.concurrencyMax = 1;
      await service.created(customer);
      const next = await service.created(customer);
      const last = await service.created(customer);
      const waiting = read(last, { prefer: "wait=10" });
      await expect.poll(() => service.signals.waitedFor()).toEqual([last]);
      const reads = vi.spyOn(service.tasks, "find");
      await service.request(`/panoramas/${next}/cancel`, customer, { method: "POST" });
      expect(reads.mock.calls.filter(([id]) => id === last)).toEqual([]);
      await service.clock.advance(10_000);
      expect(await readJson(await waiting)).toMatchObject({ id: last, status: "processing", queue_position: 0 });
    });

    it("ends when the client disconnects", async () => {
      const id = await service.created(customer);
      const controller = new AbortController();
      const answer = service.request(`/panoramas/${id}`, customer, {
        headers: { prefer: "wait=30" },
        signal: controller.signal,
      });
      await waiting();
      controller.abort();
      await expect(answer).rejects.toThrow("aborted");
      while (service.clock.sleeping > 0) await new Promise((resolve) => setImmediate(resolve));
      expect(service.signals.waitedFor().length).toBe(0);
      expect(service.finished.at(-1)).toMatchObject({ route: "/api/v1/panoramas/:id", aborted: true });
    });

    it("answers at once when the account already holds 50 waits, over all its keys", async () => {
      const id = await service.created(customer);
      const second = (await apiKeys(service).createApiKey(customer.accountId, "second"))._unsafeUnwrap().secret;
      const stranger = await service.customer();
      const [strangers, ours] = [await service.created(stranger), { ...customer, key: second }];
      const wait = (as: Customer, task = id) =>
        service.request(`/panoramas/${task}`, as, { headers: { prefer: "wait=30" } });
      const held = Array.from({ length: 50 }, (_, n) => wait(n % 2 ? customer : ours));
      while (service.clock.sleeping < 50) await new Promise((resolve) => setImmediate(resolve));
      const response = await wait(ours);
      expect(response.headers.has("preference-applied")).toBe(false);
      expect(await readJson(response)).toMatchObject({ id, status: "processing" });
      const other = wait(stranger, strangers);
      while (service.clock.sleeping < 51) await new Promise((resolve) => setImmediate(resolve));

      await service.clock.advance(30_000);
      for (const answer of [...held, other]) expect((await answer).headers.get("preference-applied")).toBe("wait=30");
      const again = wait(ours); // the slots are free again
      while (service.clock.sleeping < 1) await new Promise((resolve) => setImmediate(resolve));
      await service.clock.advance(30_000);
      expect((await again).headers.get("preference-applied")).toBe("wait=30");
    });

    it("ends with an answer when the server stops", async () => {
      const id = await service.created(customer);
      const answer = read(id, { prefer: "wait=30" });
      await waiting();
      await service.stop();
      expect(await readJson(await answer)).toMatchObject({ status: "processing" });
    });
  });
});
