import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { anUnstoredResult } from "../../support/unstored-result.js";
import type { World } from "../../support/world.js";

let world: World;
let owner: AccountId;
let id: TaskId;

beforeEach(async () => {
  ({ world, owner, id } = await anUnstoredResult());
});

const image = async () => ((await world.readTask(id, owner))._unsafeUnwrap() as SucceededTask).image;

describe("retryImage", () => {
  const fail = async () => {
    world.provider.play({ download: "no_image" });
    await world.keep();
    world.provider.play({ download: "image" });
  };

  it("lets a failed image be stored by the next attempt", async () => {
    await fail();
    (await world.retryImage(id, owner))._unsafeUnwrap();
    expect(await image()).toMatchObject({ status: "uploading", failedAttempts: 0 });
    expect(await world.keep()).toBe(1);
    expect((await image()).status).toBe("saved");
  });

  it("refuses an image that has not failed, and a task that is unknown or not finished", async () => {
    await world.keep();
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
