import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import { providerWebhooks } from "../../../application/background/receive-provider-webhook.js";
import { unverifiedWebhook } from "../../../application/errors.js";
import type { ProviderWebhooks } from "../../../application/ports/generation-provider.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

describe("receiveProviderWebhook", () => {
  let world: World;
  let due: number;
  beforeEach(() => {
    world = aWorld();
    due = 0;
  });

  const webhook = { body: Buffer.from("body"), headers: {}, query: new URLSearchParams() };
  const receive = (taskOf: ProviderWebhooks["taskOf"], provider = "scripted") => {
    const wakePolls = () => {
      due += 1;
    };
    const known = new Map([["scripted", { taskOf }]]);
    return providerWebhooks({ ...world, providerWebhooks: known, wakePolls }).receiveProviderWebhook(provider, webhook);
  };

  it("makes the poll of the task due now", async () => {
    const owner = await anOwner(world, 10);
    const { task } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    expect(await world.settle()).toBe(0);
    expect(await receive(async (received) => (received === webhook ? ok(task.id) : ok(taskId(404))))).toEqual(
      ok(undefined),
    );
    expect(due).toBe(1);
    expect(await world.settle()).toBe(1);
    expect((await world.tasks.find(task.id, owner))?.state).toBe("succeeded");
  });

  it("accepts a webhook for a task that does not exist", async () => {
    expect(await receive(async () => ok(taskId(404)))).toEqual(ok(undefined));
  });

  it("refuses a forged webhook, and a webhook of another provider", async () => {
    const unverified = unverifiedWebhook("wrong signature");
    expect(await receive(async () => err(unverified))).toEqual(err(unverified));
    const message = "No webhooks are accepted from other.";
    expect(await receive(async () => ok(taskId(1)), "other")).toEqual(err({ kind: "not_found", message }));
    expect(due).toBe(0);
  });
});
