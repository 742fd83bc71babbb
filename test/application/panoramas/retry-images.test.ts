import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import type { Script } from "../../../adapters/memory/scripted-provider.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { anUnstoredResult } from "../../support/unstored-result.js";
import { anOwner, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
let id: TaskId;

beforeEach(async () => {
  ({ world, owner, id } = await anUnstoredResult());
});

describe("retryFailedImages", () => {
  /** Each succeeds while the storage is unavailable. Afterwards its download has the result of the script. */
  const finish = async (download: Script["download"]) => {
    await world.clock.advance(world.provider.nextPollMilliseconds());
    world.provider.play({ download: "image" });
    world.storage.available = false;
    await world.settle();
    world.storage.available = true;
    await world.clock.advance(1_000);
    world.provider.play({ download });
    await world.store();
  };
  const statuses = async (account: AccountId) =>
    (await world.tasks.list(account, 999, undefined)).map((task) => task.state === "succeeded" && task.image.status);

  it("lets every failed image of every account be stored, page by page", async () => {
    world.provider.play({ download: "no_image" });
    await world.store();
    const other = await anOwner(world, 1_000);
    for (let n = 0; n < 210; n += 1) {
      await world.createPanorama(other, aCreationRequest());
      if (n % 5 === 4) await finish("no_image");
    }
    await world.createPanorama(owner, aCreationRequest());
    await finish("gone");

    expect(await world.retryFailedImages()).toBe(211);
    expect(await world.retryFailedImages()).toBe(0);
    world.provider.play({ download: "image" });
    expect(await world.store()).toBe(211);
    expect(await statuses(owner)).toEqual(["expired", "saved"]);
    expect(new Set(await statuses(other))).toEqual(new Set(["saved"]));
  });

  it("does not count an image that another command has retried in the meantime", async () => {
    world.provider.play({ download: "no_image" });
    await world.store();
    const { listFailedImages } = world.tasks;
    world.tasks.listFailedImages = async (...page) => {
      const failed = await listFailedImages.apply(world.tasks, page);
      (await world.retryImage(id, owner))._unsafeUnwrap();
      return failed;
    };
    expect(await world.retryFailedImages()).toBe(0);
  });
});

describe("retryImage", () => {
  it("refuses an image that has not failed, and a task that is unknown or not finished", async () => {
    await world.store();
    expect((await world.retryImage(id, owner))._unsafeUnwrapErr()).toEqual({
      kind: "illegal_transition",
      from: "saved",
      event: "retry",
    });
    expect((await world.retryImage(taskId(9), owner))._unsafeUnwrapErr()).toEqual({
      kind: "not_found",
      message: `There is no finished task ${taskId(9)} on account ${owner}.`,
    });
    const running = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task;
    expect((await world.retryImage(running.id, owner))._unsafeUnwrapErr().kind).toBe("not_found");
  });
});
