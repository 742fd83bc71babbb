import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest, apiKeyId, aSucceededTask } from "../../../adapters/contracts/support/builders.js";
import { creations } from "../../../application/panoramas/creations.js";
import { generationTime } from "../../../application/panoramas/generation-time.js";
import type { PlaceWithReadiness, Readiness } from "../../../application/ports/generation-provider.js";
import { StoreBusy } from "../../../application/ports/stores/store-errors.js";
import type { TaskOpening } from "../../../application/ports/stores/tasks/task-store.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import { credits } from "../../../domain/credits/credits.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import type { AccountId } from "../../../domain/ids.js";
import {
  generationName,
  type ObjectName,
  panoramaName,
  referenceImageName,
  thumbnailNameOf,
} from "../../../domain/images/object-name.js";
import { type BrokenRule, invalidRequest } from "../../../domain/invalid-request.js";
import { panoramaPolicy } from "../../../domain/panorama-policy.js";
import {
  CREATION_SETTINGS,
  QUEUE_DEADLINE_MILLISECONDS,
  SUBMISSION_DEADLINE_MILLISECONDS,
} from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const key = "order-4711" as IdempotencyKey;
const lake = aCreationRequest({ prompt: "a quiet lake" });

const MISSING: BrokenRule = { name: "missing_image" };

/** A panorama in the storage. */
const finishedBy = async (account: AccountId, visibility: "private" | "public" = "private") => {
  const { task } = (await world.createPanorama(account, aCreationRequest({ visibility })))._unsafeUnwrap();
  await world.clock.advance(5_000);
  await world.settle();
  await world.store();
  const made = await world.tasks.find(task.id, account);
  if (made?.state !== "succeeded") throw new Error("it has not succeeded");
  return { id: task.id, name: made.image.imageName, url: world.storage.urlOf(made.image.imageName) };
};

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

describe("creations", () => {
  it.each([
    ["1k", 4],
    ["2k", 6],
    ["4k", 10],
  ])("reserves the credits for %s (%i) and submits the task", async (resolution, cost) => {
    const { task, replayed } = (await world.createPanorama(owner, aCreationRequest({ resolution })))._unsafeUnwrap();

    expect(replayed).toBe(false);
    expect(task).toMatchObject({ state: "submitted", upstreamTaskId: "upstream-1", submittedAt: world.clock.now() });
    expect(await world.ledger.balance(owner)).toBe(100 - cost);
    expect(await world.tasks.find(task.id, owner)).toEqual(task);
    expect(world.reporter.events).toEqual([
      { kind: "task_submitted", taskId: task.id, provider: "scripted", upstreamTaskId: "upstream-1" },
    ]);
  });

  it("refuses with cost_max at the configured price", async () => {
    const at = (price: number) => {
      const policy = panoramaPolicy({ prices: { "1k": price, "2k": price, "4k": price } });
      const { create } = creations({ ...world, generationTime: generationTime() }, { ...CREATION_SETTINGS, policy });
      return create(owner, lake, key, { maxCredits: 6 });
    };
    expect((await at(7))._unsafeUnwrapErr()).toEqual(
      invalidRequest("max_credits", { name: "cost_max", max: 6, cost: 7 }),
    );
    expect(await world.ledger.balance(owner)).toBe(100);
    expect(world.provider.started).toBe(0);

    const { task } = (await at(6))._unsafeUnwrap();
    expect(await world.ledger.balance(owner)).toBe(94);
    // A repeat of an accepted creation is not a new one, also after the price has risen.
    expect((await at(7))._unsafeUnwrap()).toEqual({ task, replayed: true });
    expect(await world.ledger.balance(owner)).toBe(94);
  });

  it("refuses a request that the provider cannot make before credits are held or a call is made", async () => {
    const impossible = invalidRequest("image_urls", { name: "images_only" });
    world.provider.makes = err(impossible);

    expect((await world.createPanorama(owner, lake))._unsafeUnwrapErr()).toEqual(impossible);
    expect(await world.ledger.balance(owner)).toBe(100);
    expect(await world.ledger.entries(owner)).toHaveLength(1);
    expect(world.provider.started).toBe(0);
  });

  it.each([
    ["refuse", "refused", 0],
    ["content_refused", "content_refused", 0],
    ["reference_unusable", "reference_unusable", 0],
    ["unknown", "submission_unknown", 1],
    ["unknown_but_started", "submission_unknown", 1],
  ] as const)(
    "refunds at once when the provider answers %s, and fails the task as %s",
    async (submit, reason, orphans) => {
      world.provider.play({ submit, search: "nothing" });
      const search = vi.spyOn(world.provider, "search");

      const refused = await world.createPanorama(owner, lake);

      const [failed] = await world.tasks.list(owner, 10, undefined);
      expect(refused._unsafeUnwrapErr()).toMatchObject({ kind: "upstream_error", failed: { id: failed?.id, reason } });
      expect(await world.ledger.balance(owner)).toBe(100);
      expect(failed).toMatchObject({ state: "failed", reason });
      expect(world.reporter.of("task_failed")).toMatchObject([{ reason }]);
      expect(world.reporter.of("possible_orphan")).toHaveLength(orphans);
      expect(search).toHaveBeenCalledTimes(orphans);
    },
  );

  it("refuses a creation beyond the maximum length of the queue, and charges nothing", async () => {
    const { create } = creations(world, { ...CREATION_SETTINGS, queueMax: 1 });
    world.provider.ready = "busy";
    expect((await create(owner, lake))._unsafeUnwrap().task.state).toBe("queued");
    expect((await create(owner, lake))._unsafeUnwrapErr()).toMatchObject({ kind: "upstream_error" });
    expect(await world.ledger.balance(owner)).toBe(96);
    expect(await world.tasks.list(owner, 10, undefined)).toHaveLength(1);
  });

  it("refuses a creation whose estimated wait exceeds the queue deadline", async () => {
    world.provider.concurrencyMax = 1;
    const create = async () => (await world.createPanorama(owner, lake)).isOk();
    expect(await create()).toBe(true);
    expect([await create(), await create()]).toEqual([true, true]); // nothing is known about the time of a generation
    const submittedAt = new Date(0);
    const milliseconds = QUEUE_DEADLINE_MILLISECONDS / 2 + 1;
    world.generationTime.add(aSucceededTask({ submittedAt, succeededAt: new Date(milliseconds) }));
    expect(await create()).toBe(false);
    expect(await world.ledger.balance(owner)).toBe(88);
    const stranger = await anOwner(world, 100); // has its first task in the first round
    expect((await world.createPanorama(stranger, lake)).isOk()).toBe(true);
  });

  it("accepts a creation that waits exactly until the queue's deadline", async () => {
    world.provider.concurrencyMax = 1;
    const succeededAt = new Date(QUEUE_DEADLINE_MILLISECONDS / 2);
    world.generationTime.add(aSucceededTask({ submittedAt: new Date(0), succeededAt }));
    for (let n = 0; n < 4; n += 1) expect((await world.createPanorama(owner, lake)).isOk()).toBe(true);
  });

  const place = (name: string, readiness: Readiness, makes = true): PlaceWithReadiness => ({
    name,
    concurrencyMax: undefined,
    readiness,
    canMake: () => makes,
  });

  it.each<[string, PlaceWithReadiness[], string]>([
    ["the second place if the first one is down", [place("a", "down"), place("b", "ready")], "b"],
    ["the second place if the first one is busy", [place("a", "busy"), place("b", "ready")], "b"],
    ["the second place if the first one cannot make it", [place("a", "ready", false), place("b", "ready")], "b"],
    ["a place that is probing", [place("a", "busy"), place("b", "probing")], "b"],
    ["no place if the only one that can make it is down", [place("a", "ready", false), place("b", "down")], "none"],
  ])("sends a task to %s", async (_, places, expected) => {
    let asked = "none";
    const { submit } = world.provider;
    world.provider.submit = (order, deadline) => {
      asked = order.place ?? "no place";
      return submit.call(world.provider, order, deadline);
    };
    world.provider.places = () => places;
    expect((await world.createPanorama(owner, lake)).isOk()).toBe(expected !== "none");
    expect(asked).toBe(expected);
  });

  it("creates the default endpoint only for a task with webhook_url", async () => {
    const ensured: string[] = [];
    const ensureDefaultEndpoint = async (account: string) => ensured.push(account);
    const { create } = creations({ ...world, ensureDefaultEndpoint }, CREATION_SETTINGS);
    const withWebhook = aCreationRequest({ webhook_url: "https://task.example/1" });
    expect((await create(owner, lake)).isOk()).toBe(true);
    expect(ensured).toEqual([]);
    expect((await create(owner, withWebhook)).isOk()).toBe(true);
    expect(ensured).toEqual([owner]);
    expect((await creations(world, CREATION_SETTINGS).create(owner, withWebhook)).isOk()).toBe(true);
  });

  it("records uploaded images among the URLs, and refuses a deleted one", async () => {
    const own = referenceImageName("unguessable-0123456789", "image/png");
    const content = { content: "content", countedBytes: 1, name: own };
    (await world.references.add(owner, [content], world.clock.now(), () => ok(undefined)))._unsafeUnwrap();
    const [foreign, ofThisService] = ["https://example.com/1.png", world.storage.urlOf(own)];
    const panorama = (await finishedBy(owner)).url;
    const gone = world.storage.urlOf(referenceImageName("unguessable-9876543210", "image/png"));
    const create = (...image_urls: string[]) => world.createPanorama(owner, aCreationRequest({ image_urls }));
    const temporary = generationName("unguessable-0123456789", "jpg");
    await world.storage.put(temporary, Buffer.from("jpeg"), "image/jpeg");
    expect(await create(world.storage.urlOf(temporary))).toEqual(err(invalidRequest("image_urls", MISSING, 0)));
    expect((await world.references.standing(owner)).unusedBytes).toBe(1);
    expect((await create(foreign, panorama, ofThisService)).isOk()).toBe(true);
    expect((await world.references.standing(owner)).unusedBytes).toBe(0);
    expect(await create(foreign, ofThisService, gone)).toEqual(
      err(invalidRequest("image_urls", { name: "missing_image" }, 2)),
    );
  });

  it.each<[string, (world: World) => string, BrokenRule]>([
    ["a panorama that is deleted", ({ storage }) => storage.urlOf(panoramaName("unguessable-0123456789")), MISSING],
    ["no name of an image", ({ storage }) => storage.urlOf("references/mine.png" as ObjectName), MISSING],
    ["a query behind an image", ({ storage }) => `${storage.urlOf(panoramaName("u".repeat(22)))}?x`, MISSING],
    ["encoded characters", ({ storage }) => storage.urlOf("%72eferences/mine.png" as ObjectName), MISSING],
    ["a fragment behind an image", ({ storage }) => `${storage.urlOf(panoramaName("u".repeat(22)))}#x`, MISSING],
    [
      "a thumbnail",
      ({ storage }) => storage.urlOf(thumbnailNameOf(panoramaName("u".repeat(22)))),
      { name: "thumbnail" },
    ],
    [
      "http at another host",
      () => "http://example.com/a.png",
      { name: "https_url", actual: "http://example.com/a.png" },
    ],
    ["a private address", () => "https://10.0.0.7/a.png", { name: "public_host", actual: "10.0.0.7" }],
    ["this machine", () => "https://localhost/a.png", { name: "public_host", actual: "localhost" }],
  ])("refuses a reference image that cannot work before credits are reserved: %s", async (_, urlIn, rule) => {
    await world.storage.put(panoramaName("u".repeat(22)), Buffer.from("jpeg"), "image/jpeg");
    const image_urls = ["https://example.com/1.png", urlIn(world), "https://10.0.0.8/another.png"];
    const request = aCreationRequest({ image_urls });
    expect(await world.createPanorama(owner, request)).toEqual(err(invalidRequest("image_urls", rule, 1)));
    expect(await world.ledger.balance(owner)).toBe(100);
    expect(await world.tasks.list(owner, 9, undefined)).toEqual([]);
    expect(world.provider.started).toBe(0);
  });

  it("accepts a panorama as a reference from those who may see it", async () => {
    const other = await anOwner(world, 100);
    const [own, published] = [await finishedBy(owner), await finishedBy(owner, "public")];
    const create = async (by: AccountId, ...image_urls: string[]) => {
      const created = await world.createPanorama(by, aCreationRequest({ image_urls }));
      return created.isOk() ? "accepted" : created.error;
    };
    const missing = invalidRequest("image_urls", MISSING, 0);
    expect(await create(owner, own.url, own.url, published.url)).toBe("accepted");
    expect(await create(other, published.url)).toBe("accepted");
    expect(await create(other, own.url)).toEqual(missing);
    expect(await create(owner, world.storage.urlOf(thumbnailNameOf(own.name)))).toEqual(
      invalidRequest("image_urls", { name: "thumbnail" }, 0),
    );

    (await world.tasks.hide(published.id, { at: world.clock.now(), reason: "why" }))._unsafeUnwrap();
    expect([await create(owner, published.url), await create(other, published.url)]).toEqual([missing, missing]);
    (await world.tasks.hide(published.id, undefined))._unsafeUnwrap();
    expect(await create(other, published.url)).toBe("accepted");
    (await world.tasks.setVisibility(published.id, owner, "private"))._unsafeUnwrap();
    expect(await create(other, published.url)).toEqual(missing);
    // Its file is still there: the work that deletes it has not run.
    (await world.tasks.delete(own.id, owner, world.clock.now()))._unsafeUnwrap();
    expect((await world.storage.has(own.name))._unsafeUnwrap()).toBe(true);
    expect(await create(owner, own.url)).toEqual(missing);
  });

  it("refuses a panorama whose image is not stored yet", async () => {
    const { task } = (await world.createPanorama(owner, lake))._unsafeUnwrap();
    world.storage.available = false;
    await world.clock.advance(5_000);
    await world.settle();
    const made = await world.tasks.find(task.id, owner);
    if (made?.state !== "succeeded") throw new Error("it has not succeeded");
    expect(made.image.status).toBe("uploading");
    const image_urls = [world.storage.urlOf(made.image.imageName)];
    expect(await world.createPanorama(owner, aCreationRequest({ image_urls }))).toEqual(
      err(invalidRequest("image_urls", MISSING, 0)),
    );
  });

  it("replays the task after its reference image is deleted", async () => {
    const finished = await finishedBy(owner);
    const request = aCreationRequest({ image_urls: [finished.url] });
    const { task } = (await world.createPanorama(owner, request, key))._unsafeUnwrap();
    (await world.tasks.delete(finished.id, owner, world.clock.now()))._unsafeUnwrap();
    expect((await world.createPanorama(owner, request, key))._unsafeUnwrap()).toMatchObject({
      task: { id: task.id },
      replayed: true,
    });
    world.tasks.findByImage = () => Promise.reject(new Error("asked"));
    expect((await world.createPanorama(owner, lake)).isOk()).toBe(true);
  });

  it.each(["https://localhost:8443", "http://10.0.0.7:8080"])(
    "accepts its own image URL at %s, also while the storage fails",
    async (origin) => {
      const { name } = await finishedBy(owner);
      world.storage.urlOf = (object) => `${origin}/assets/${object}`;
      world.storage.nameOf = (url) => (url === world.storage.urlOf(name) ? name : undefined);
      world.storage.available = false;
      const create = (image: string) => world.createPanorama(owner, aCreationRequest({ image_urls: [image] }));
      expect((await create(world.storage.urlOf(name))).isOk()).toBe(true);
      const rule = origin.startsWith("https") ? "public_host" : "https_url";
      expect(await create(`${origin}/other.png`)).toMatchObject(err({ rule: { name: rule } }));
      expect(await create(`${world.storage.urlOf(name)}?x`)).toMatchObject(err({ rule: MISSING }));
    },
  );

  it("does not read references without image URLs, nor spending without budgets", async () => {
    const read: unknown[] = [];
    const open: typeof world.tasks.open = world.tasks.open.bind(world.tasks);
    world.tasks.open = (opening) => {
      read.push([opening.references, opening.spender]);
      return open(opening);
    };
    await world.createPanorama(owner, lake, undefined, { apiKey: { id: apiKeyId(1), budgets: undefined } });
    expect(read).toEqual([[undefined, undefined]]);
  });

  it("lets the provider move the slot of the task to another place", async () => {
    const { submit } = world.provider;
    const moved: unknown[] = [];
    world.provider.submit = async (order, deadline) => {
      moved.push(await order.changePlace?.(place("b", "ready")));
      const [task] = await world.tasks.list(owner, 1, undefined);
      moved.push(task?.state === "submitting" && task.place);
      moved.push(await order.changePlace?.({ ...place("full", "ready"), concurrencyMax: 0 }));
      return submit.call(world.provider, order, deadline);
    };
    expect((await world.createPanorama(owner, lake)).isOk()).toBe(true);
    expect(moved).toEqual([true, "b", false]);
    expect(world.reporter.of("task_submitted")).toMatchObject([{ provider: "b" }]);
    world.provider.play({ submit: "refuse" });
    await world.createPanorama(owner, lake);
    expect(world.reporter.of("task_failed")).toMatchObject([{ provider: "b", reason: "refused" }]);
  });

  it("throws StoreBusy before the charge, and returns the submitting task after it", async () => {
    const busy = () => Promise.reject(new StoreBusy("locked"));
    const withStore = (methods: Partial<typeof world.tasks>) =>
      creations({ ...world, tasks: Object.assign(Object.create(world.tasks), methods) }, CREATION_SETTINGS).create(
        owner,
        lake,
      );
    await expect(withStore({ open: busy })).rejects.toBeInstanceOf(StoreBusy);
    expect(await world.ledger.balance(owner)).toBe(100);

    const { task, replayed } = (await withStore({ move: busy }))._unsafeUnwrap();
    expect([task.state, replayed]).toEqual(["submitting", false]);
    expect(world.reporter.events).toMatchObject([{ kind: "work_failed", work: "creation", taskId: task.id }]);
    expect(await world.ledger.balance(owner)).toBe(96);
    await world.clock.advance(SUBMISSION_DEADLINE_MILLISECONDS);
    await world.recover();
    expect(await world.tasks.find(task.id, owner)).toMatchObject({ state: "submitted", upstreamTaskId: "upstream-1" });
    expect(world.provider.started).toBe(1);
  });

  it("throws every other error of the store, also after the charge", async () => {
    const move = () => Promise.reject(new Error("the connection is lost"));
    const tasks: typeof world.tasks = Object.assign(Object.create(world.tasks), { move });
    await expect(creations({ ...world, tasks }, CREATION_SETTINGS).create(owner, lake)).rejects.toThrow(
      "the connection is lost",
    );
    expect(await world.ledger.balance(owner)).toBe(96);
  });

  it("throws if the store passes no spending of a key with a budget", async () => {
    const tasks: typeof world.tasks = Object.assign(Object.create(world.tasks), {
      open: (opening: TaskOpening<unknown>) => world.tasks.open({ ...opening, spender: undefined }),
    });
    const apiKey = { id: apiKeyId(1), budgets: { ...NO_LIMITS, creditsPerDay: credits(10) } };
    await expect(
      creations({ ...world, tasks }, CREATION_SETTINGS).create(owner, lake, undefined, { apiKey }),
    ).rejects.toThrow("Bug: the store passes no spending");
    expect(await world.ledger.balance(owner)).toBe(100);
  });
});
