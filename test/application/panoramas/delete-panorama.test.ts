import fc from "fast-check";
import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { type ObjectName, panoramaName, thumbnailNameOf } from "../../../domain/images/object-name.js";
import { isPermanent } from "../../../domain/images/storage-status.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { LEASE_MILLISECONDS, useCases } from "../../support/application.js";
import { type CallOutcome, ConnectionLost, PortGates } from "../../support/port-gates.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const TEN_MINUTES = 10 * 60_000;
const A_DAY = 24 * 60 * 60_000;

type Panorama = { readonly world: World; readonly owner: AccountId; readonly id: TaskId };

/** A panorama whose image is stored, with or without its thumbnail, or whose image could not be stored. */
const aPanorama = async (image: "saved" | "saved-no-thumb" | "failed"): Promise<Panorama> => {
  const world = aWorld();
  const owner = await anOwner(world, 100);
  const { id } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task;
  await world.clock.advance(world.provider.nextPollMilliseconds());
  world.storage.available = image !== "failed";
  world.imaging.thumbnails = image === "saved";
  await world.settle();
  world.storage.available = true;
  world.imaging.thumbnails = true;
  if (image === "failed") {
    world.provider.play({ download: "unusable" });
    await world.clock.advance(1_000);
    await world.keep();
    world.provider.play({ download: "image" });
  }
  expect(((await world.tasks.find(id, owner)) as SucceededTask).image.status).toBe(image);
  return { world, owner, id };
};

describe("deletePanorama", () => {
  let panorama: Panorama;
  const statusOf = async ({ world, owner, id }: Panorama) => (await world.readTask(id, owner)).isOk();

  beforeEach(async () => {
    panorama = await aPanorama("saved");
  });

  it("deletes image and thumbnail at once, and the provider's copy in the background", async () => {
    const { world, owner, id } = panorama;
    expect(world.storage.objects.size).toBe(2);
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    expect(world.storage.objects.size).toBe(0);
    expect(await statusOf(panorama)).toBe(false);
    expect(await world.erase()).toBe(1);
    expect(world.provider.discarded).toEqual(["upstream-1"]);

    await world.clock.advance(A_DAY);
    expect(await world.erase()).toBe(0);
  });

  it("succeeds also if it is deleted already, and is not_found for others and for an unknown id", async () => {
    const { world, owner, id } = panorama;
    const stranger = await anOwner(world, 100);
    const notFound = (id: TaskId) => err({ kind: "not_found", message: `There is no task ${id} on this account.` });
    expect(await world.deletePanorama(id, stranger)).toEqual(notFound(id));
    expect(await world.deletePanorama(taskId(404), owner)).toEqual(notFound(taskId(404)));
    expect(world.storage.objects.size).toBe(2);
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    expect(await world.deletePanorama(id, stranger)).toEqual(notFound(id));
  });

  it("can be repeated after the storage was unavailable", async () => {
    const { world, owner, id } = panorama;
    world.storage.available = false;
    expect((await world.deletePanorama(id, owner))._unsafeUnwrapErr().kind).toBe("storage_unavailable");
    expect(await statusOf(panorama)).toBe(true);
    world.storage.available = true;
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    expect(world.storage.objects.size).toBe(0);
  });

  it("deletes a failed task, which has no image", async () => {
    const { world, owner } = panorama;
    world.provider.play({ poll: "failed" });
    const { id } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task;
    expect(await world.deletePanorama(id, owner)).toEqual(err({ kind: "not_finished" }));
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    expect(await statusOf({ world, owner, id })).toBe(false);
    expect(world.storage.objects.size).toBe(2);
  });

  it("discards nothing of a panorama that is not deleted", async () => {
    const { world } = panorama;
    await world.clock.advance(A_DAY);
    expect(await world.erase()).toBe(0);
    expect(world.provider.discarded).toEqual([]);
    expect(world.storage.objects.size).toBe(2);
  });

  it("succeeds while the provider is unavailable; the copy is deleted when it is available again", async () => {
    const { world, owner, id } = panorama;
    world.provider.play({ discard: "unavailable" });
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    for (let n = 0; n < 3; n += 1) {
      expect(await world.erase()).toBe(1);
      await world.clock.advance(TEN_MINUTES - 1);
      expect(await world.erase()).toBe(0);
      await world.clock.advance(1);
    }
    world.provider.play({ discard: "done" });
    expect(await world.erase()).toBe(1);
    expect(world.provider.discarded).toEqual(["upstream-1"]);
    const detail = "the copy of a deleted image is not deleted: the script is unavailable";
    const unavailable = { kind: "provider_unavailable", taskId: id, detail };
    expect(world.reporter.of("provider_unavailable")).toEqual([unavailable, unavailable, unavailable]);
  });

  it("gives the provider's copy up a day after the generation", async () => {
    const { world, owner, id } = panorama;
    world.provider.play({ discard: "unavailable" });
    await world.deletePanorama(id, owner);
    let attempts = 0;
    for (let n = 0; n < 200; n += 1) {
      attempts += await world.erase();
      await world.clock.advance(TEN_MINUTES);
    }
    expect(attempts).toBe(145); // now, then every ten minutes of a day
  });

  it("deletes the objects when the storage is available again, however late", async () => {
    const { world, owner, id } = panorama;
    await world.deletePanorama(id, owner);
    world.storage.available = false;
    await world.erase();
    await world.clock.advance(2 * A_DAY);
    await world.erase();
    const failed = { kind: "work_failed", work: "erase", taskId: id, error: "the storage is switched off" };
    expect(world.reporter.of("work_failed")).toEqual([failed, failed]);
    world.storage.available = true;
    await world.clock.advance(TEN_MINUTES);
    expect(await world.erase()).toBe(1);
    await world.clock.advance(TEN_MINUTES);
    expect(await world.erase()).toBe(0);
  });

  it("is not finished while the image is being stored", async () => {
    const { world, owner, id } = await aPanorama("failed");
    (await world.retryImage(id, owner))._unsafeUnwrap();
    expect(await world.deletePanorama(id, owner)).toEqual(err({ kind: "not_finished" }));
  });

  it("leaves no object and no copy, however it interleaves with workers, retries, takedowns and kills", async () => {
    type Step =
      | { readonly kind: "delete" | "retryImage" | "erase"; readonly instance: number }
      | { readonly kind: "keep"; readonly instance: number }
      /** Runs to its end, while the calls of the instances stay halted. */
      | { readonly kind: "deleteWholly" | "eraseWholly" | "hide" | "show" }
      | { readonly kind: "resume"; readonly instance: number; readonly call: number; readonly outcome: CallOutcome }
      | { readonly kind: "kill"; readonly instance: number }
      | { readonly kind: "pass"; readonly milliseconds: number }
      | { readonly kind: "storage"; readonly available: boolean };
    const instance = fc.nat({ max: 1 });
    const keep = fc.record({ kind: fc.constant("keep" as const), instance });
    const retryImage = fc.record({ kind: fc.constant("retryImage" as const), instance });
    const resume = fc.record({
      kind: fc.constant("resume" as const),
      instance,
      call: fc.nat(),
      outcome: fc.oneof(
        { weight: 12, arbitrary: fc.constant("done" as const) },
        { weight: 1, arbitrary: fc.constantFrom("lost_before" as const, "lost_after" as const) },
      ),
    });
    const storing: fc.Arbitrary<Step> = fc.oneof(
      { weight: 3, arbitrary: resume },
      { weight: 2, arbitrary: keep },
      { weight: 1, arbitrary: retryImage },
    );
    const milliseconds = fc.constantFrom(1_000, TEN_MINUTES);
    const deleting: fc.Arbitrary<Step> = fc.oneof(
      { weight: 8, arbitrary: resume },
      {
        weight: 3,
        arbitrary: fc.constantFrom({ kind: "deleteWholly" as const }, { kind: "eraseWholly" as const }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constantFrom("delete" as const, "erase" as const), instance }),
      },
      { weight: 2, arbitrary: storing },
      {
        weight: 1,
        arbitrary: fc.constantFrom({ kind: "hide" as const }, { kind: "show" as const }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill" as const), instance }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("pass" as const), milliseconds }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("storage" as const), available: fc.boolean() }) },
    );
    const storings = fc.array(storing, { maxLength: 12, size: "max" });
    const deletings = fc.array(deleting, { maxLength: 40, size: "max" });
    const hidings = deletings.map((steps) => [
      { kind: "hide" as const },
      ...steps.filter(({ kind }) => !kind.startsWith("delete")),
    ]);
    const run = fc
      .tuple(
        storings,
        fc.oneof(
          deletings,
          fc.tuple(hidings, deletings).map((parts) => parts.flat()),
          hidings,
        ),
      )
      .map((parts) => parts.flat());
    let deletedInFlight = 0;
    let renamedInFlight = 0;

    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("saved", "saved-no-thumb", "saved-no-thumb", "failed"),
        run,
        async (image, steps) => {
          const { world, owner, id } = await aPanorama(image);
          await world.clock.advance(TEN_MINUTES); // the missing thumbnail is due
          const hiddenNames = new Set<ObjectName>();
          const failures: unknown[] = [];
          const watch = (flight: Promise<unknown>): void => {
            flight.catch((error: unknown) => error instanceof ConnectionLost || failures.push(error));
          };
          const startInstance = () => {
            const gates = new PortGates(world.clock);
            const tasks = gates.guard(world.tasks, { losable: true });
            const provider = gates.guard(world.provider, { losable: false });
            const storage = gates.guard(world.storage, { losable: false });
            return { gates, useCases: useCases({ ...world, tasks, provider, storage }) };
          };
          const instances = [startInstance(), startInstance()];
          const kill = (killed: number): void => {
            instances[killed]?.gates.kill();
            instances[killed] = startInstance();
          };
          for (const step of steps) {
            const { gates, useCases } = instances["instance" in step ? step.instance : 0]!;
            switch (step.kind) {
              case "delete":
                watch(useCases.deletePanorama(id, owner));
                break;
              case "retryImage":
                watch(useCases.retryImage(id, owner));
                break;
              case "keep":
              case "erase":
                watch(useCases[step.kind]());
                break;
              case "deleteWholly":
                await world.deletePanorama(id, owner);
                break;
              case "eraseWholly":
                await world.erase();
                break;
              case "show":
                await world.tasks.hide(id, undefined);
                break;
              case "hide": {
                const task = await world.tasks.find(id, owner);
                if (task?.state === "succeeded" && isPermanent(task.image)) hiddenNames.add(task.image.imageName);
                await world.tasks.hide(id, { at: world.clock.now(), reason: "why" }, () =>
                  panoramaName(world.ids.unguessable()),
                );
                break;
              }
              case "resume":
                await gates.resume(step.call, step.outcome);
                break;
              case "kill":
                kill(step.instance);
                break;
              case "pass":
                // A lease is longer than the calls of its worker can take.
                if (step.milliseconds >= LEASE_MILLISECONDS) for (const n of [0, 1]) kill(n);
                await world.clock.advance(step.milliseconds);
                break;
              case "storage":
                world.storage.available = step.available;
            }
          }
          const inFlight = instances.some(({ gates }) => gates.halted > 0);
          for (const { gates } of instances) while (gates.halted > 0) await gates.resumeAll();
          world.storage.available = true;
          for (let n = 0; n < 4; n += 1) {
            await world.clock.advance(TEN_MINUTES);
            await world.keep();
            await world.erase();
          }
          expect(failures).toEqual([]);
          const left = [...world.storage.objects.keys()].sort();
          const task = (await world.tasks.find(id, owner)) as SucceededTask | undefined;
          if (task !== undefined) {
            if (inFlight && hiddenNames.size > 0) renamedInFlight += 1;
            expect(hiddenNames).not.toContain(task.image.imageName);
            expect(task.image.nextName).toBeUndefined();
            const { imageName } = task.image;
            const kept = { saved: [thumbnailNameOf(imageName), imageName], "saved-no-thumb": [imageName] };
            const isWhole =
              steps.every(({ kind }) => kind !== "delete" && kind !== "deleteWholly") && isPermanent(task.image);
            if (isWhole) expect(left).toEqual(kept[task.image.status as keyof typeof kept].sort());
            return;
          }
          if (inFlight) deletedInFlight += 1;
          expect(left).toEqual([]);
          expect(world.provider.discarded).toContain("upstream-1");
        },
      ),
      { numRuns: 300 },
    );
    expect(deletedInFlight).toBeGreaterThan(0);
    expect(renamedInFlight).toBeGreaterThan(0);
  });
});
