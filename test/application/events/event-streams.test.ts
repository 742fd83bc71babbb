import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, apiKeyId } from "../../../adapters/contracts/support/builders.js";
import { InProcessEventSignals } from "../../../adapters/memory/in-process-signals.js";
import { openKeys } from "../../../application/accounts/api-requests.js";
import { streamWatch } from "../../../application/background/watch-changes.js";
import { eventStreams } from "../../../application/events/event-streams.js";
import type { AccountId } from "../../../domain/ids.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

describe("eventStreams.stream", () => {
  let world: World;
  let owner: AccountId;
  let signals: InProcessEventSignals;

  beforeEach(async () => {
    world = aWorld();
    owner = await anOwner(world, 10_000);
    signals = new InProcessEventSignals();
  });

  const failOne = async (account = owner): Promise<void> => {
    world.provider.play({ submit: "refuse" });
    await world.createPanorama(account, aCreationRequest());
  };

  /** Reads a stream in the background; `numbers` are those of the events so far. */
  const follow = (after?: number, account = owner) => {
    const stop = new AbortController();
    const numbers: number[] = [];
    const ended = (async () => {
      for await (const { event } of await eventStreams({ ...world, eventSignals: signals }).stream(
        account,
        undefined,
        after,
        stop.signal,
      )) {
        numbers.push(event.number);
      }
    })();
    return { numbers, stop, ended };
  };

  it("returns events from now on, or those after a number: all of them after one above the latest", async () => {
    await failOne();
    await failOne();
    const streams = [undefined, 1, 2, 3].map((after) => follow(after));
    await world.clock.settled();
    await failOne();
    signals.wake(owner);
    await world.clock.settled();
    expect(streams.map(({ numbers }) => numbers)).toEqual([[3], [2, 3], [3], [1, 2, 3]]);
    for (const { stop, ended } of streams) {
      stop.abort();
      await ended;
    }
    expect(signals.waitedFor()).toEqual([]);
  });

  it("returns more events than one page, in their order", async () => {
    for (let n = 0; n < 250; n += 1) await failOne();
    const { numbers, stop, ended } = follow(0);
    await world.clock.settled();
    stop.abort();
    await ended;
    expect(numbers).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
  });

  it("loses and repeats nothing, whenever events happen and the watch runs", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("event", "foreign", "watch", "settle"), { maxLength: 30 }),
        async (steps) => {
          const account = await anOwner(world, 10_000);
          const stranger = await anOwner(world, 10_000);
          const watch = streamWatch({ ...world, eventSignals: signals, openKeys: openKeys(world) }).watchStreams;
          const { numbers, stop, ended } = follow(0, account);
          let happened = 0;
          for (const step of steps) {
            if (step === "event") {
              happened += 1;
              await failOne(account);
            } else if (step === "foreign") await failOne(stranger);
            else if (step === "watch") await watch();
            else await world.clock.settled();
          }
          await world.clock.settled();
          await watch();
          await world.clock.settled();
          stop.abort();
          await ended;
          expect(numbers).toEqual(Array.from({ length: happened }, (_, index) => index + 1));
        },
      ),
      { numRuns: 50 },
    );
  });

  it("returns an event that happens while it reads the earlier ones", async () => {
    let isFirst = true;
    const after: typeof world.events.after = async (...args) => {
      const page = await world.events.after(...args);
      if (isFirst) await failOne();
      if (isFirst) signals.wake(owner);
      isFirst = false;
      return page;
    };
    const stop = new AbortController();
    const events = { latest: async () => new Map<AccountId, number>(), after };
    const stream = await eventStreams({
      ...world,
      events: { ...world.events, ...events },
      eventSignals: signals,
    }).stream(owner, undefined, undefined, stop.signal);
    const numbers: number[] = [];
    const ended = (async () => {
      for await (const { event } of stream) numbers.push(event.number);
    })();
    await world.clock.settled();
    stop.abort();
    await ended;
    expect(numbers).toEqual([1]);
  });

  it("yields no further event after abort", async () => {
    for (let n = 0; n < 3; n += 1) await failOne();
    const stop = new AbortController();
    const stream = await eventStreams({ ...world, eventSignals: signals }).stream(owner, undefined, 0, stop.signal);
    expect((await stream.next()).value?.event.number).toBe(1);
    stop.abort();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("leaves no listener behind when the store throws", async () => {
    const down = new Error("the database is down");
    const events = { ...world.events, latest: async () => new Map(), after: () => Promise.reject(down) };
    const never = new AbortController().signal;
    const stream = await eventStreams({ ...world, events, eventSignals: signals }).stream(
      owner,
      undefined,
      undefined,
      never,
    );
    await expect(stream.next()).rejects.toBe(down);
    expect(signals.waitedFor()).toEqual([]);
  });

  it("ends after the last possible event of the task", async () => {
    const created = await world.createPanorama(owner, aCreationRequest());
    const { id } = created._unsafeUnwrap().task;
    const types: string[] = [];
    const ended = (async () => {
      const never = new AbortController().signal;
      for await (const { event } of await eventStreams({ ...world, eventSignals: signals }).stream(
        owner,
        id,
        undefined,
        never,
      )) {
        types.push(event.type);
      }
    })();
    await world.clock.settled();
    await world.clock.advance(5_000);
    world.storage.available = false;
    await world.settle();
    signals.wake(owner);
    await world.clock.settled();
    expect(types).toEqual(["panorama.succeeded"]);
    world.storage.available = true;
    await world.clock.advance(1_000);
    await world.store();
    signals.wake(owner);
    await ended;
    expect(types).toEqual(["panorama.succeeded", "panorama.saved"]);
    const again: string[] = [];
    const later = await eventStreams({ ...world, eventSignals: signals }).stream(
      owner,
      id,
      1,
      new AbortController().signal,
    );
    for await (const { event } of later) again.push(event.type);
    expect(again).toEqual(["panorama.saved"]);
    const whole: string[] = [];
    const fromTheFirst = await eventStreams({ ...world, eventSignals: signals }).stream(
      owner,
      id,
      undefined,
      new AbortController().signal,
    );
    for await (const { event } of fromTheFirst) whole.push(event.type);
    expect(whole).toEqual(types);
  });

  it("ends for a task that is deleted", async () => {
    await failOne();
    const [task] = await world.tasks.list(owner, 1, undefined);
    if (task === undefined) throw new Error("there is no task");
    await world.deletePanorama(task.id, owner);
    const stream = await eventStreams({ ...world, eventSignals: signals }).stream(
      owner,
      task.id,
      undefined,
      new AbortController().signal,
    );
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
});

describe("watchStreams", () => {
  it("wakes the streams of an account once for each new event, and no others", async () => {
    const world = aWorld();
    const [owner, stranger] = [await anOwner(world, 100), await anOwner(world, 100)];
    const woken: AccountId[] = [];
    const eventSignals = Object.assign(new InProcessEventSignals(), {
      waitedFor: () => [owner, stranger],
      wake: (account: AccountId) => void woken.push(account),
    });
    const watch = streamWatch({ events: world.events, eventSignals, openKeys: openKeys(world) }).watchStreams;
    world.provider.play({ submit: "refuse" });
    const expectWoken = async (...accounts: AccountId[]) => {
      await watch();
      expect(woken.splice(0)).toEqual(accounts);
    };
    await expectWoken(owner, stranger); // at first it knows nothing
    await expectWoken();
    await world.createPanorama(owner, aCreationRequest());
    await expectWoken(owner);
    await expectWoken();
    await world.createPanorama(stranger, aCreationRequest());
    await expectWoken(stranger);
  });

  it("reads nothing without streams and waits, and ends a wait with a revoked key", async () => {
    const world = aWorld();
    let reads = 0;
    const watch = async () => {
      reads += 1;
      return { latest: new Map(), liveKeys: new Map() };
    };
    const held = openKeys(world);
    const eventSignals = new InProcessEventSignals();
    const events = Object.assign(Object.create(world.events) as typeof world.events, { watch });
    const watchAll = streamWatch({ events, eventSignals, openKeys: held }).watchStreams;
    await watchAll();
    expect(reads).toBe(0);
    const wait = held.watch({ id: apiKeyId(1), expiresAt: undefined }, new AbortController().signal);
    await watchAll();
    expect([reads, wait.isKeyUnusable()]).toEqual([1, true]);
  });
});
