import { beforeEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { RecordingWebhookSender } from "../../../adapters/memory/recording-ports.js";
import { eventDelivery } from "../../../application/webhooks/deliver-events.js";
import { webhooks } from "../../../application/webhooks/webhooks.js";
import type { AccountId } from "../../../domain/ids.js";
import { eventIdOf } from "../../../domain/tasks/account-event.js";
import type { Task } from "../../../domain/tasks/task.js";
import type { AttemptResult } from "../../../domain/webhooks/webhook-delivery.js";
import type { Endpoint } from "../../../domain/webhooks/webhook-endpoint.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const SUCCESS: AttemptResult = { kind: "delivered", detail: "status 200" };
const FAILURE: AttemptResult = { kind: "failed", detail: "status 500", isGone: false };
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

describe("eventDelivery", () => {
  let world: World;
  let owner: AccountId;
  let sender: RecordingWebhookSender;
  let wake: () => void;
  let deliver: (stopping?: AbortSignal) => Promise<number>;

  const deliverWith = (concurrency: number) => {
    const delivery = eventDelivery(
      { ...world, webhookSender: sender },
      {
        leaseMilliseconds: 20_000,
        concurrency,
        bodyOf: ({ type }, task) => JSON.stringify({ type, task: task?.id }),
      },
    );
    wake = delivery.claimNow;
    return delivery.deliver;
  };

  beforeEach(async () => {
    world = aWorld();
    owner = await anOwner(world, 10_000);
    sender = new RecordingWebhookSender();
    deliver = deliverWith(32);
  });

  const endpointAt = async (url: string, account = owner): Promise<Endpoint> =>
    (await webhooks(world).createEndpoint(account, url))._unsafeUnwrap();

  /** The receivers of all endpoints of the account have confirmed an event: before, they get one at a time. */
  const confirmedOnce = async (account = owner) => {
    const answer = sender.answer;
    sender.answer = () => SUCCESS;
    await failedTasks(1, account);
    await deliver();
    sender.answer = answer;
    sender.sent.splice(0);
  };
  /** Makes `count` tasks of the account that have failed. */
  const failedTasks = async (count: number, account = owner, body = {}): Promise<string[]> => {
    const ids: string[] = [];
    world.provider.play({ submit: "refuse" });
    for (let n = 0; n < count; n += 1) await world.createPanorama(account, aCreationRequest(body));
    world.provider.play({ submit: "accept" });
    for (const task of await world.tasks.list(account, count, undefined)) ids.push(task.id);
    return ids;
  };
  const states = async (account = owner) =>
    (await world.deliveries.list(account, 100, undefined)).map(({ delivery }) => delivery.state);

  it("sends every event once, with its body and id, signed with the endpoint's secret and the one before a rotation", async () => {
    const endpoint = await endpointAt("https://a.example/hook");
    const rotated = (await webhooks(world).rotateEndpointSecret(endpoint.id, owner))._unsafeUnwrap();
    const [id] = await failedTasks(1);
    expect(await deliver()).toBe(1);
    expect(await deliver()).toBe(0);
    expect(sender.sent).toEqual([
      {
        url: "https://a.example/hook",
        id: eventIdOf({ accountId: owner, number: 1 }),
        body: JSON.stringify({ type: "panorama.failed", task: id }),
        secrets: [rotated.secret, endpoint.secret],
        at: world.clock.now(),
      },
    ]);
    expect(world.reporter.of("webhook_attempt")).toEqual([
      {
        kind: "webhook_attempt",
        endpointId: endpoint.id,
        eventId: eventIdOf({ accountId: owner, number: 1 }),
        state: "delivered",
        attempt: 1,
        detail: "status 200",
      },
    ]);
  });

  it("sends nothing to a receiver that asks for an hour before the hour is over, also no other event", async () => {
    await endpointAt("https://a.example/hook");
    await confirmedOnce();
    sender.answer = () => ({ ...FAILURE, detail: "status 429", retryAfterMilliseconds: 3_600_000 });
    await failedTasks(1);
    expect(await deliver()).toBe(1);
    await failedTasks(1);
    sender.answer = () => SUCCESS;
    await world.clock.advance(3_599_999);
    expect(await deliver()).toBe(0);
    await world.clock.advance(1);
    expect(await deliver()).toBe(2);
  });

  it("sends to an origin where nobody has confirmed an event once in five seconds, for all accounts", async () => {
    const accounts = [owner, await anOwner(world, 100)];
    for (const [n, account] of accounts.entries()) await endpointAt(`https://never.example/${n}`, account);
    for (const account of accounts) await failedTasks(1, account);
    sender.answer = () => FAILURE;
    expect(await deliver()).toBe(1);
    await world.clock.advance(4_999);
    expect(await deliver()).toBe(0);
    await world.clock.advance(1);
    expect(await deliver()).toBe(1);
    expect(sender.sent.map(({ url }) => url)).toEqual(["https://never.example/0", "https://never.example/1"]);
  });

  it("tries a failed delivery again with the same id, and reports each attempt", async () => {
    await endpointAt("https://a.example/hook");
    const [id] = await failedTasks(1);
    sender.answer = () => ({ ...FAILURE, cause: "ECONNREFUSED" });
    const trace = vi.fn((_work: string, _task: Task | undefined, run: () => Promise<unknown>) => run());
    Object.assign(world.reporter, { trace });
    await deliver();
    expect(trace.mock.calls.map(([work, task]) => [work, task?.id])).toEqual([["deliver", id]]);
    await world.clock.advance(4_999);
    expect(await deliver()).toBe(0);
    await world.clock.advance(1);
    sender.answer = () => SUCCESS;
    expect(await deliver()).toBe(1);
    expect(new Set(sender.sent.map(({ id }) => id)).size).toBe(1);
    expect(world.reporter.of("webhook_attempt")).toMatchObject([
      { state: "pending", attempt: 1, cause: "ECONNREFUSED" },
      { state: "delivered", attempt: 2, cause: undefined },
    ]);
    expect(await states()).toEqual(["delivered"]);
  });

  /** The receivers answer when the test calls the functions of the returned list. */
  const answersOnCall = () => {
    const ends: (() => void)[] = [];
    sender.answer = () => new Promise((resolve) => ends.push(() => resolve(SUCCESS)));
    return ends;
  };

  it("claims again when half of the last claim has ended", async () => {
    await endpointAt("https://a.example/hook");
    await confirmedOnce();
    await failedTasks(20);
    const ends = answersOnCall();
    const claim = vi.spyOn(world.deliveries, "claim");
    const run = deliver();
    const sent: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      await world.clock.settled();
      sent.push(sender.sent.length);
      ends[n]?.();
    }
    // The second claim leaves 12 running, and the next ones none until at most 6 are.
    expect(sent).toEqual([8, 8, 8, 8, 16, 16, 16, 16, 16, 16, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20]);
    expect(claim.mock.calls.slice(0, 3).map(([{ busyLanes }]) => busyLanes.length)).toEqual([0, 0, 1]);
    expect(await run).toBe(20);
    expect(world.clock.sleeping).toBe(0);
  });

  it("sends a new event beside a slow one at once when it is woken, otherwise within a second", async () => {
    await endpointAt("https://a.example/hook");
    await failedTasks(1);
    const ends = answersOnCall();
    const run = deliver();
    for (const [n, claim] of [async () => wake(), () => world.clock.advance(1_000)].entries()) {
      const other = await anOwner(world, 10_000);
      await endpointAt(`https://${n}.example/hook`, other);
      await failedTasks(1, other);
      await world.clock.settled();
      expect(sender.sent).toHaveLength(n + 1);
      await claim();
      await world.clock.settled();
      expect(sender.sent).toHaveLength(n + 2);
    }
    for (const end of ends) end();
    expect(await run).toBe(3);
  });

  it("claims nothing while all slots are used", async () => {
    await endpointAt("https://a.example/hook");
    await failedTasks(1);
    const claim = vi.spyOn(world.deliveries, "claim");
    const ends = answersOnCall();
    const run = deliverWith(1)();
    await world.clock.advance(5_000);
    expect(claim).toHaveBeenCalledTimes(1);
    ends[0]?.();
    expect(await run).toBe(1);
  });

  it("sends everything in one call to an endpoint that answers faster than the store claims", async () => {
    await endpointAt("https://a.example/hook");
    await failedTasks(100);
    const claim = world.deliveries.claim.bind(world.deliveries);
    world.deliveries.claim = async (...parameters) => {
      const claimed = await claim(...parameters);
      for (let n = 0; n < 10; n += 1) await world.clock.settled(); // everything that was sent before is answered
      return claimed;
    };
    sender.answer = async () => {
      for (let n = sender.sent.length % 8; n > 0; n -= 1) await world.clock.settled();
      return SUCCESS;
    };
    expect(await deliver()).toBe(100);
  });

  it("switches an endpoint off at once that answers with status 410", async () => {
    await endpointAt("https://gone.example/hook");
    await failedTasks(3);
    sender.answer = () => ({ kind: "failed", detail: "status 410", isGone: true });
    const switchOff = vi.spyOn(world.deliveries, "switchOff");
    await deliver();
    const [[, , now, failingSince]] = switchOff.mock.calls as [Parameters<typeof world.deliveries.switchOff>];
    expect(now.getTime() - failingSince.getTime()).toBe(3 * DAY_MILLISECONDS);
    expect(world.reporter.of("webhook_endpoint_off").map(({ reason }) => reason)).toEqual(["gone"]);
    expect(await states()).toEqual(["failed", "failed", "failed"]);
  });

  it("gives a delivery up, without sending it, whose endpoint is off", async () => {
    await endpointAt("https://a.example/hook");
    await failedTasks(1);
    const now = world.clock.now();
    const { claim, record } = world.deliveries;
    world.deliveries.claim = async (...parameters) =>
      (await claim.apply(world.deliveries, parameters)).map((lease) => ({
        ...lease,
        endpoint: { ...lease.endpoint, off: { at: now, reason: "gone" } },
      }));
    const recorded: unknown[] = [];
    world.deliveries.record = (lease, ...result) => {
      recorded.push(result);
      return record.call(world.deliveries, lease, ...result);
    };
    expect(await deliver()).toBe(1);
    expect(sender.sent).toEqual([]);
    const detail = "the endpoint is switched off";
    const failed = {
      delivery: { state: "failed", attempts: 0, firstAttemptAt: undefined, detail, endedAt: now },
      receiver: { verifiedAt: undefined, failures: 0, nextAt: now },
      originFreeAt: now,
    };
    expect(recorded).toEqual([[failed, { kind: "failed", detail, isGone: false }, now]]);
    expect(world.reporter.of("webhook_attempt")).toEqual([]);
    expect(await states()).toEqual(["failed"]);
  });

  it("continues with the other deliveries when the work on one throws, and rejects at the end", async () => {
    await endpointAt("https://a.example/hook");
    await endpointAt("https://b.example/hook");
    await failedTasks(1);
    sender.answer = ({ url }) => {
      if (url === "https://a.example/hook") throw new Error("a bug");
      return SUCCESS;
    };
    const claim = vi.spyOn(world.deliveries, "claim");
    await expect(deliver()).rejects.toThrow("a bug");
    expect(claim).toHaveBeenCalledTimes(1); // and starts no others
    expect((await states()).sort()).toEqual(["delivered", "pending"]);
    sender.answer = () => SUCCESS;
    expect(await deliver()).toBe(0);
    await world.clock.advance(20_000); // the lease has expired
    expect(await deliver()).toBe(1);
  });

  it("records the deliveries in flight if a claim throws, then rejects", async () => {
    await endpointAt("https://a.example/hook");
    await confirmedOnce();
    await failedTasks(3);
    const { claim } = world.deliveries;
    world.deliveries.claim = (...parameters) => {
      world.deliveries.claim = () => Promise.reject(new Error("the database is down"));
      return claim.apply(world.deliveries, parameters);
    };
    await expect(deliver()).rejects.toThrow("the database is down");
    expect(await states()).toEqual(["delivered", "delivered", "delivered", "delivered"]);
  });

  it("starts no delivery while it stops, and waits for the deliveries in flight", async () => {
    await endpointAt("https://a.example/hook");
    await confirmedOnce();
    await failedTasks(20);
    const stopping = new AbortController();
    sender.answer = () => {
      stopping.abort();
      return SUCCESS;
    };
    const attempts = await deliver(stopping.signal);
    expect(attempts).toBe(8);
    expect((await states()).filter((state) => state === "delivered")).toHaveLength(9);
  });
});
