import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { aCreationRequest } from "../../../../adapters/contracts/support/builders.js";
import type { Task } from "../../../../domain/tasks/task.js";
import { useCases } from "../../../support/application.js";
import { FAULTS, refuses } from "../../../support/faulty-server.js";
import { startSkybox } from "../../../support/providers-under-test.js";
import { anOwner, aWorld, type World } from "../../../support/world.js";

/*
 * A provider has free slots, but no call may be sent to it now. Queued tasks must stay queued: if they were started,
 * they would be refused, although their customers have waited.
 */

let world: World;
let skybox: Awaited<ReturnType<typeof startSkybox>>;
let waiting: Task[];
let start: () => Promise<number>;

beforeEach(async () => {
  world = aWorld();
  const { clock, storage } = world;
  skybox = await startSkybox({ clock, storage, concurrencyMax: 2, submitTimeoutMilliseconds: 30_000 });
  const cases = useCases({ ...world, provider: skybox.provider });
  start = cases.start;
  const owner = await anOwner(world, 100);
  const create = async () => (await cases.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task;
  const tasks = [await create(), await create(), await create(), await create()];
  waiting = tasks.filter(({ state }) => state === "queued");
  skybox.fake.plan = "fail";
  await clock.advance(10_000);
  await cases.settle();
});

afterEach(async () => {
  vi.restoreAllMocks();
  await skybox.close();
});

const states = async () =>
  Promise.all(waiting.map(async ({ id, accountId }) => (await world.tasks.find(id, accountId))?.state));

it("queued tasks stay queued while a poll probes the provider", async () => {
  skybox.fake.faults.polls.push(...Array.from({ length: 5 }, () => FAULTS.cutBefore));
  for (let n = 0; n < 5; n += 1) await skybox.provider.poll("46");
  await world.clock.advance(10_000);

  const timeout = new AbortController();
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(timeout.signal);
  skybox.fake.faults.polls.push(FAULTS.noAnswerAfter);
  const before = skybox.fake.server.requests.length;
  const probe = skybox.provider.poll("46");
  await expect.poll(() => skybox.fake.server.requests.length, { interval: 5 }).toBe(before + 1);
  expect(await start()).toBe(0);
  expect(await states()).toEqual(["queued", "queued"]);
  timeout.abort();
  expect((await probe).isErr()).toBe(true);
});

it("queued tasks stay queued while calls to the provider are paused", async () => {
  skybox.fake.faults.polls.push(refuses(429, { "retry-after": "60" }));
  await skybox.provider.poll("46");
  expect(await start()).toBe(0);
  await world.clock.advance(59_999);
  expect(await start()).toBe(0);
  expect(await states()).toEqual(["queued", "queued"]);
  await world.clock.advance(1);
  expect(await start()).toBe(2);
  expect(await states()).toEqual(["submitted", "submitted"]);
});

it("accepts a creation after a 429 and sends it again after each pause", async () => {
  const other = aWorld();
  const { clock, storage } = other;
  const busy = await startSkybox({ clock, storage, submitTimeoutMilliseconds: 30_000 });
  const cases = useCases({ ...other, provider: busy.provider });
  const owner = await anOwner(other, 100);
  for (const [status, seconds] of [
    [429, "20"],
    [503, "20"],
    [429, "20"],
  ] as const)
    busy.fake.faults.creates.push(refuses(status, { "retry-after": seconds }));
  const { task } = (await cases.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
  expect(task).toMatchObject({ state: "queued", submissions: 1 });
  for (let sent = 1; sent <= 3; sent += 1) {
    expect(busy.fake.server.requests).toHaveLength(sent);
    await clock.advance(19_999);
    expect(await cases.start()).toBe(0);
    await clock.advance(1);
    expect(await cases.start()).toBe(1);
  }
  expect(await other.tasks.find(task.id, owner)).toMatchObject({ state: "submitted" });
  expect(busy.fake.tasks).toHaveLength(1);
  expect(await other.ledger.balance(owner)).toBe(96);
  await busy.close();
});
