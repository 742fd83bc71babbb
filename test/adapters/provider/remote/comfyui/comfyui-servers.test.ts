import { err } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { FAULTS, refuses } from "../../../../support/faulty-server.js";
import { startComfyuiServers } from "../../../../support/providers-under-test.js";

const order = (n: number, body: Readonly<Record<string, unknown>> = {}) => ({
  taskId: taskId(n),
  request: aCreationRequest(body),
});

describe("ComfyuiServers", () => {
  let clock: HandClock;
  let both: Awaited<ReturnType<typeof startComfyuiServers>>;
  beforeEach(async () => {
    clock = new HandClock();
    both = await startComfyuiServers({ clock });
  });
  afterEach(() => both.close());

  const started = () => both.fakes.map(({ tasks }) => tasks.length);

  const names = () => both.fakes.map(({ baseUrl }) => `${new URL(baseUrl).host}/api`);

  it("lists one place per server, with the server's limit or the setting", async () => {
    const limits = (provider: typeof both.provider) => provider.places().map(({ concurrencyMax }) => concurrencyMax);
    expect(both.provider.places().map(({ name }) => name)).toEqual(names());
    expect(limits(both.provider)).toEqual([1, 1]);
    const other = await startComfyuiServers({ concurrencyMax: 7 });
    expect(limits(other.provider)).toEqual([7, 7]);
    await other.close();
  });

  it("sends a creation to the server with the shortest queue, and two at once to the servers of their places", async () => {
    for (const fake of both.fakes) fake.plan = "run";
    const [one, two] = names();
    const changePlace = async () => false;
    await Promise.all([
      both.provider.submit({ ...order(1), place: two, changePlace }),
      both.provider.submit({ ...order(2), place: one, changePlace }),
    ]);
    expect(started()).toEqual([1, 1]);
    const [first] = both.fakes;
    first.foreignPrompts = 2;
    expect((await both.provider.submit(order(3))).isOk()).toBe(true);
    expect(started()).toEqual([1, 2]);
  });

  it("moves to a slot of the server with the shortest queue, and stays if it has none", async () => {
    for (const fake of both.fakes) fake.plan = "run";
    const [one, two] = names();
    both.fakes[0].foreignPrompts = 2;
    const moves: string[] = [];
    const submit = (n: number, moved: boolean) =>
      both.provider.submit({
        ...order(n),
        place: one,
        changePlace: async ({ name }) => {
          moves.push(name);
          return moved;
        },
      });
    expect((await submit(1, false)).isOk()).toBe(true);
    expect(started()).toEqual([1, 0]);
    expect((await submit(2, true)).isOk()).toBe(true);
    expect(started()).toEqual([1, 1]);
    expect(moves).toEqual([two, two]);
  });

  it("sends nothing to a server that is down, and refuses when all are", async () => {
    const [first, second] = both.fakes;
    first.faults.lists.push(...Array.from({ length: 3 }, () => FAULTS.cutBefore));
    for (const n of [1, 2]) expect((await both.provider.submit(order(n))).isOk()).toBe(true);
    expect(started()).toEqual([0, 2]);
    second.faults.lists.push(FAULTS.failsBefore);
    const refused = { kind: "refused", reason: "no ComfyUI server answers", cause: "provider_unavailable" };
    expect(await both.provider.submit(order(3))).toEqual(err(refused));
  });

  it("returns busy while all servers are paused", async () => {
    for (const fake of both.fakes) fake.faults.lists.push(refuses(429, { "retry-after": "20" }));
    const busy = { kind: "busy", reason: "no ComfyUI server answers" };
    expect(await both.provider.submit(order(1))).toEqual(err(busy));
    expect(await both.provider.submit(order(1))).toEqual(err(busy));
    await clock.advance(20_000);
    expect((await both.provider.submit(order(1))).isOk()).toBe(true);
  });

  it("does not wait for a server that is silent", async () => {
    both.fakes[0].faults.lists.push(FAULTS.noAnswerAfter);
    const submitted = both.provider.submit(order(1));
    await expect.poll(() => clock.sleeping, { interval: 5 }).toBe(1);
    await clock.advance(2_000);
    expect((await submitted).isOk()).toBe(true);
    expect(started()).toEqual([0, 1]);
  });
});
