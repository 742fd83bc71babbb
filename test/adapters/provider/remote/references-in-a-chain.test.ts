import { err } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../adapters/contracts/support/builders.js";
import { ProviderChain } from "../../../../adapters/provider/provider-chain.js";
import type { AccountId } from "../../../../domain/ids.js";
import { GENERATION_DEADLINE_MILLISECONDS, useCases } from "../../../support/application.js";
import { FAULTS, refuses } from "../../../support/faulty-server.js";
import { startFal, startSkybox } from "../../../support/providers-under-test.js";
import { anOwner, aWorld, type World } from "../../../support/world.js";

const URLS = [1, 2, 3].map((n) => `https://pictures.example/${n}.jpg`);
const CREDITS = 100;

/** Of the two only fal keeps three reference images: Skybox would take the first one and drop the others. */
describe("three reference images in the chain fal:seedream-4.5, skybox", () => {
  let world: World;
  let fal: Awaited<ReturnType<typeof startFal>>;
  let skybox: Awaited<ReturnType<typeof startSkybox>>;
  let cases: ReturnType<typeof useCases>;
  let owner: AccountId;

  beforeEach(async () => {
    world = aWorld();
    const { clock, storage } = world;
    fal = await startFal({ clock, storage }, { model: "seedream-4.5" });
    skybox = await startSkybox({ clock, storage });
    fal.fake.plan = "run";
    skybox.fake.plan = "run";
    cases = useCases({ ...world, provider: new ProviderChain([fal.provider, skybox.provider], () => {}) });
    owner = await anOwner(world, CREDITS);
  });
  afterEach(async () => {
    await fal.close();
    await skybox.close();
  });

  const create = (images: number) =>
    cases.createPanorama(owner, aCreationRequest({ prompt: "a lake", image_urls: URLS.slice(0, images) }));
  const created = async (images: number) => (await create(images))._unsafeUnwrap().task;
  const stateOf = async ({ id }: { readonly id: Awaited<ReturnType<typeof created>>["id"] }) =>
    (await world.tasks.find(id, owner))?.state;
  /** The reference images of every generation that each provider has started. */
  const received = () => ({
    fal: fal.fake.tasks.map((task) => fal.fake.referencesOf(task)),
    skybox: skybox.fake.tasks.map((task) => skybox.fake.referencesOf(task)),
  });
  /** Opens the circuit of fal. */
  const falGoesDown = async () => {
    const request = aCreationRequest({ image_urls: URLS });
    for (let n = 1; n <= 5; n += 1) {
      fal.fake.faults.creates.push(FAULTS.cutBefore);
      await fal.provider.submit({ taskId: taskId(n), request });
    }
    expect(fal.provider.readiness()).toBe("down");
  };

  it("go to fal, and a single one goes to Skybox AI while fal has no free slot", async () => {
    for (const images of [3, 3, 1]) await created(images);
    expect(received()).toEqual({ fal: [URLS, URLS], skybox: [URLS.slice(0, 1)] });
  });

  it("are refused without a charge while fal does not respond, and a single one goes to Skybox AI", async () => {
    await falGoesDown();
    expect(await create(3)).toEqual(err({ kind: "upstream_error" }));
    expect(await world.ledger.balance(owner)).toBe(CREDITS);
    await created(1);
    expect(received()).toEqual({ fal: [], skybox: [URLS.slice(0, 1)] });
  });

  it("wait while fal does not respond, if they waited before, and go to fal when it responds", async () => {
    for (const images of [3, 3]) await created(images);
    const waiting = await created(3);
    expect(await stateOf(waiting)).toBe("queued");
    fal.fake.plan = "fail";
    await world.clock.advance(5_000);
    await cases.settle();
    await falGoesDown();
    expect(await cases.start()).toBe(0);
    expect(await stateOf(waiting)).toBe("queued");
    await world.clock.advance(10_000);
    fal.fake.plan = "run";
    expect(await cases.start()).toBe(1);
    expect(await stateOf(waiting)).toBe("submitted");
    expect(received()).toEqual({ fal: [URLS, URLS, URLS], skybox: [] });
  });

  it("wait while fal answers that it is busy, and go to fal", async () => {
    fal.fake.faults.creates.push(refuses(429, { "retry-after": "20" }), refuses(429, { "retry-after": "20" }));
    const task = await created(3);
    expect(await stateOf(task)).toBe("queued");
    expect(await cases.start()).toBe(0);
    await world.clock.advance(20_000);
    expect(await cases.start()).toBe(1);
    expect([await stateOf(task), received()]).toEqual(["queued", { fal: [], skybox: [] }]);
    await world.clock.advance(20_000);
    expect(await cases.start()).toBe(1);
    expect([await stateOf(task), received()]).toEqual(["submitted", { fal: [URLS], skybox: [] }]);
  });

  it("wait while fal has no free slot, although Skybox AI has one, and go to fal when one is free", async () => {
    const running = [await created(3), await created(3)];
    const waiting = await created(3);
    expect(await cases.start()).toBe(0);
    expect([await stateOf(waiting), received()]).toEqual(["queued", { fal: [URLS, URLS], skybox: [] }]);
    // What waits for fal does not keep others from Skybox AI.
    const single = await created(1);
    await cases.start();
    expect(await stateOf(single)).toBe("submitted");
    fal.fake.plan = "fail";
    await world.clock.advance(5_000);
    await cases.settle();
    expect(await Promise.all(running.map(stateOf))).toEqual(["failed", "failed"]);
    fal.fake.plan = "run";
    expect(await cases.start()).toBe(1);
    expect([await stateOf(waiting), received()]).toEqual([
      "submitted",
      { fal: [URLS, URLS, URLS], skybox: [URLS.slice(0, 1)] },
    ]);
  });

  it("that wait for fal in vain are refunded at the deadline", async () => {
    for (const images of [3, 3]) await created(images);
    const waiting = await created(3);
    await falGoesDown();
    await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS);
    await cases.sweep();
    expect(await stateOf(waiting)).toBe("failed");
    expect(received()).toEqual({ fal: [URLS, URLS], skybox: [] });
  });

  it.each([402, 422, 500])(
    "are refunded when fal answers with %i; a single one goes to Skybox AI when fal refuses it",
    async (status) => {
      fal.fake.faults.creates.push(refuses(status), refuses(402));
      expect((await create(3))._unsafeUnwrapErr().kind).toBe("upstream_error");
      expect(await world.ledger.balance(owner)).toBe(CREDITS);
      expect(received()).toEqual({ fal: [], skybox: [] });
      await created(1);
      expect(received()).toEqual({ fal: [], skybox: [URLS.slice(0, 1)] });
    },
  );
});
