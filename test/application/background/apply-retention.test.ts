import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { applyRetention } from "../../../application/background/apply-retention.js";
import { expireFinishedImages } from "../../../application/background/expire-finished-images.js";
import { confirmRetention, readRetention } from "../../../application/operators/confirm-retention.js";
import type { AccountId } from "../../../domain/account-id.js";
import { RETENTION_GRACE_MILLISECONDS, type RetentionTime } from "../../../domain/images/retention.js";
import { LEASE_MILLISECONDS } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const DAY = 24 * 60 * 60 * 1000;
const retained = "finished_images";

describe("applyRetention", () => {
  let world: World;
  let owner: AccountId;

  beforeEach(async () => {
    world = aWorld();
    owner = await anOwner(world, 100);
  });

  const finish = async (): Promise<void> => {
    (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
  };
  /** An instance with this setting. */
  const instance = (setting: RetentionTime) =>
    applyRetention(world, {
      retained,
      setting,
      erase: async (time) =>
        time === null
          ? 0
          : expireFinishedImages(world, { retentionMilliseconds: time, leaseMilliseconds: LEASE_MILLISECONDS })(),
    });
  const confirm = (setting: RetentionTime) => confirmRetention(world)(retained, setting);
  const pending = () => world.reporter.of("retention_pending");

  it("erases nothing after a typo, and says so at once and every hour", async () => {
    const right = instance(365 * DAY);
    await right();
    await finish();
    await world.clock.advance(100 * DAY);
    const typo = instance(36 * DAY);
    expect([await typo(), await typo()]).toEqual([0, 0]);
    expect(world.storage.objects.size).toBe(2);
    expect(pending()).toMatchObject([
      { retained, settingSeconds: 36 * 86_400, inForceSeconds: 365 * 86_400, count: 1, confirmedFrom: undefined },
    ]);
    await world.clock.advance(60 * 60 * 1000);
    await typo();
    expect(pending()).toHaveLength(2);
    await world.clock.advance(30 * DAY);
    expect(await typo()).toBe(0);
    expect(await instance(365 * DAY)()).toBe(0);
    expect(world.reporter.of("retention_in_force").at(-1)).toMatchObject({ inForceSeconds: 365 * 86_400 });
    await world.clock.advance(365 * DAY);
    expect(await instance(365 * DAY)()).toBe(1);
    expect(world.reporter.of("images_expired")).toMatchObject([{ retained, count: 1 }]);
  });

  it("erases what the operator has confirmed, after the grace", async () => {
    await instance(null)();
    await finish();
    await world.clock.advance(100 * DAY);
    const shorter = instance(36 * DAY);
    expect(await readRetention(world)(retained, 36 * DAY)).toMatchObject({
      retention: { inForce: null },
      older: { count: 1 },
    });
    expect(await confirm(36 * DAY)).toMatchObject({ retention: { inForce: null }, older: { count: 1 } });
    await world.clock.advance(RETENTION_GRACE_MILLISECONDS - 1);
    expect(await shorter()).toBe(0);
    await world.clock.advance(1);
    expect(await shorter()).toBe(1);
    await world.clock.advance(LEASE_MILLISECONDS);
    await world.erase();
    expect(world.storage.objects.size).toBe(0);
  });

  it("saves everything if the setting is restored within the grace", async () => {
    await instance(365 * DAY)();
    await finish();
    await world.clock.advance(100 * DAY);
    await confirm(36 * DAY);
    await world.clock.advance(RETENTION_GRACE_MILLISECONDS - 1);
    expect(await instance(365 * DAY)()).toBe(0);
    await world.clock.advance(2 * DAY);
    expect(await instance(36 * DAY)()).toBe(0);
    expect(world.storage.objects.size).toBe(2);
  });

  it("keeps the longer retention of two instances during a rolling restart", async () => {
    const [old, next] = [instance(36 * DAY), instance(365 * DAY)];
    await old();
    await finish();
    await next();
    await world.clock.advance(100 * DAY);
    expect([await old(), await next(), await old()]).toEqual([0, 0, 0]);
    // A confirmation lasts only when no instance has the longer setting any more.
    await confirm(36 * DAY);
    await next();
    await world.clock.advance(2 * DAY);
    expect(await old()).toBe(0);
  });

  it("takes the setting of the first start as in force only if it erases nothing", async () => {
    await finish();
    await world.clock.advance(100 * DAY);
    expect(await instance(36 * DAY)()).toBe(0);
    expect(await world.retentions.find(retained)).toEqual({ inForce: null });

    world = aWorld();
    owner = await anOwner(world, 100);
    await finish();
    expect(await instance(36 * DAY)()).toBe(0);
    expect(await world.retentions.find(retained)).toEqual({ inForce: 36 * DAY });
    expect(pending()).toEqual([]);
    await world.clock.advance(37 * DAY);
    expect(await instance(36 * DAY)()).toBe(1);
  });

  it("is in force at once when it erases nothing now", async () => {
    await instance(365 * DAY)();
    await finish();
    expect(await confirm(36 * DAY)).toMatchObject({ retention: { inForce: 36 * DAY } });
  });
});
