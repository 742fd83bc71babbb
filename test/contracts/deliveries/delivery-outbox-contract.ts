import { ok } from "neverthrow";
import { expect, it } from "vitest";
import {
  anEndpoint,
  aSubmittingTask,
  endpointId,
  noon,
  openATask,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { addThumbnail, keepWithoutThumbnail, uploading } from "../../../domain/images/storage-status.js";
import { fail, withImage } from "../../../domain/tasks/task.js";
import { pendingAt } from "../../support/pending-at.js";
import type { DeliverySetup } from "./delivery-setup.js";

/** The outbox: which events and deliveries the moves of a task write. */
export const describeOutbox = (on: DeliverySetup): void => {
  const {
    owner,
    other,
    end,
    now,
    until,
    success,
    submitted,
    succeeded,
    saved,
    addEndpoint,
    listed,
    claim,
    names,
    record,
  } = on;

  it("erases the webhook_url of a deleted panorama with its texts, but not while something is to be sent there", async () => {
    const webhook_url = "https://hooks.example.com/secret";
    await on.stores.endpoints.ensureDefault(anEndpoint({ id: endpointId(9), url: undefined }));
    const send = async () => {
      const leases = await claim();
      for (const lease of leases) await record(lease, success);
      return leases.map(({ url }) => url);
    };
    await saved(1, owner, { webhook_url });
    for (const _ of ["succeeded", "saved"]) expect(await send()).toEqual([webhook_url]);
    for (const n of [2, 3]) await saved(n, owner, { webhook_url });
    for (const n of [1, 2]) expect(await on.stores.tasks.delete(taskId(n), owner, end)).toEqual(ok(undefined));
    let at = secondsAfter(noon, 3_600);
    const urls = async () => {
      at = secondsAfter(at, 3_600);
      const leases = await on.stores.tasks.claim("erase", at, secondsAfter(at, 60), 9);
      return leases.map(({ task }) => task.request.webhookUrl).sort();
    };
    expect(await urls()).toEqual([webhook_url, webhook_url]);
    expect(await on.stores.tasks.eraseTexts(secondsAfter(end, 1), 9, at)).toBe(2);
    expect(await urls()).toEqual([webhook_url, undefined]);
    for (const _ of ["succeeded", "saved"]) expect(await send()).toEqual([webhook_url, webhook_url]);
    await on.stores.deliveries.deleteEvents(new Date("2100-01-01"), 9); // also what is dated with the present time
    expect(await urls()).toEqual([undefined, undefined]);
    expect((await on.stores.tasks.find(taskId(3), owner))?.request.webhookUrl).toBe(webhook_url);
  });

  it("deletes the events of a deleted task, except pending ones", async () => {
    const remove = async (n: number) => {
      await saved(n);
      expect(await on.stores.tasks.delete(taskId(n), owner, end)).toEqual(ok(undefined));
    };
    const send = async () => {
      for (const _ of ["succeeded", "saved"]) for (const lease of await claim()) await record(lease, success);
    };
    await addEndpoint();
    await saved(1);
    await send();
    await remove(2);
    expect(await listed()).toEqual([1, 2, 3, 4].map((n) => `${n} panorama.${n % 2 === 1 ? "succeeded" : "saved"}`));
    await send();
    expect(await on.stores.tasks.delete(taskId(1), owner, end)).toEqual(ok(undefined));
    expect(await listed()).toEqual(["3 panorama.succeeded", "4 panorama.saved"]);
    expect(await on.stores.tasks.eraseTexts(now, 9, now)).toBe(2);
    expect(await listed()).toEqual([]);
  });

  it("writes one event per end of a task and per saved image, in the order of the moves", async () => {
    await addEndpoint();
    const first = await submitted(1);
    await saved(2);
    await on.stores.tasks.move(first, fail(first, "generation_failed", end), undefined);
    expect(await listed()).toEqual(["1 panorama.succeeded", "2 panorama.saved", "3 panorama.failed"]);
    const [lease] = await claim();
    expect(lease).toMatchObject({
      lane: endpointId(1),
      url: "https://receiver.example.com/hook",
      endpoint: anEndpoint(),
      event: { type: "panorama.succeeded", accountId: owner, number: 1, taskId: taskId(2), at: end },
      task: { id: taskId(2), state: "succeeded", image: { status: "saved" } },
      delivery: { ...pendingAt(until) },
    });
  });

  it("writes one panorama.saved event per task", async () => {
    await addEndpoint();
    const task = await succeeded();
    const { temporaryUrl, imageName } = task.image;
    const without = withImage(task, keepWithoutThumbnail(uploading(temporaryUrl, imageName)));
    await on.stores.tasks.move(task, without, now);
    if (without.image.status !== "saved-no-thumb") throw new Error("the image has another status");
    await on.stores.tasks.move(without, withImage(without, addThumbnail(without.image)), undefined);
    expect(await listed()).toEqual(["1 panorama.succeeded", "2 panorama.saved"]);
  });

  it("numbers the events of an account without gaps when many tasks end concurrently", async () => {
    await addEndpoint();
    await addEndpoint(2, other);
    for (let round = 0; round < 4; round += 1) {
      const numbers = [1, 2, 3, 4, 5].map((n) => round * 10 + n);
      const tasks = await Promise.all([
        ...numbers.map((n) => submitted(n)),
        ...numbers.map((n) => submitted(n + 100, other)),
      ]);
      const moved = await Promise.all(
        tasks.map((task) => on.stores.tasks.move(task, fail(task, "generation_failed", end), undefined)),
      );
      expect(moved.filter((result) => result.isErr())).toEqual([]);
    }
    const numbers = Array.from({ length: 20 }, (_, index) => `${index + 1} panorama.failed`);
    expect([(await listed()).sort(byNumber), (await listed(other)).sort(byNumber)]).toEqual([numbers, numbers]);
  });

  it("writes a delivery for each endpoint that is on, and none for other accounts", async () => {
    await addEndpoint(1);
    await addEndpoint(2);
    await addEndpoint(3);
    await addEndpoint(4, other);
    await on.stores.deliveries.switchOff(anEndpoint({ id: endpointId(3) }), "gone", now, now);
    await succeeded();
    expect(names(await claim())).toEqual(["1 panorama.succeeded", "other 1 panorama.succeeded"]);
    expect(await listed(other)).toEqual([]);
  });

  it("sends the events of a task with a webhook_url there too, by the account's default endpoint", async () => {
    await addEndpoint();
    const url = "https://hooks.example.com:8443/panorama?task=7";
    const secretOwner = await on.stores.endpoints.ensureDefault(anEndpoint({ id: endpointId(9), url: undefined }));
    await succeeded(1, owner, { webhook_url: url });
    await succeeded(2);
    const leases = (await claim()).sort((a, b) => a.event.number - b.event.number || b.url.localeCompare(a.url));
    expect(leases.map((lease) => [lease.event.number, lease.url])).toEqual([
      [1, "https://receiver.example.com/hook"],
      [1, url],
      [2, "https://receiver.example.com/hook"],
    ]);
    expect(leases[1]).toMatchObject({ lane: `${owner} https://hooks.example.com:8443`, endpoint: secretOwner });
    expect((await on.stores.deliveries.list(owner, 9, undefined)).map((delivery) => delivery.url)).toContain(url);
  });

  it("writes credits.low when a creation crosses the threshold", async () => {
    await addEndpoint();
    const task = aSubmittingTask({ accountId: owner });
    const opened = await on.stores.tasks.open({
      account: owner,
      dueAt: noon,
      decide: (standing) => openATask({ ...standing, lowBalanceThreshold: standing.credits }, task, noon),
    });
    expect(opened.isOk()).toBe(true);
    const [lease] = await claim();
    expect(lease?.event).toEqual({
      type: "credits.low",
      accountId: owner,
      number: 1,
      remainingCredits: 99_996,
      at: noon,
    });
    expect(lease?.task).toBeUndefined();
    await succeeded(2);
    expect(await listed()).toEqual(["1 credits.low", "2 panorama.succeeded"]);
  });
};

const byNumber = (a: string, b: string): number => Number.parseInt(a, 10) - Number.parseInt(b, 10);
