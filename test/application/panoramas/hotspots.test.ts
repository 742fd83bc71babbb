import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, accountId, noon, taskId } from "../../../adapters/contracts/support/builders.js";
import { findLinkedPanoramas } from "../../../application/panoramas/find-linked-panoramas.js";
import { setHotspots } from "../../../application/panoramas/set-hotspots.js";
import type { Moderation } from "../../../application/ports/moderation.js";
import type { AccountId } from "../../../domain/account-id.js";
import { parseHotspots } from "../../../domain/tasks/hotspots.js";
import { type Slug, slug } from "../../../domain/tasks/slug.js";
import type { SucceededTask, Task } from "../../../domain/tasks/task.js";
import type { Visibility } from "../../../domain/tasks/visibility.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
let stranger: AccountId;
let hall: SucceededTask;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
  stranger = await anOwner(world, 100);
  hall = await finished("public");
});

const create = async (visibility: Visibility, account = owner): Promise<Task> => {
  await world.clock.advance(1);
  return (await world.createPanorama(account, aCreationRequest({ visibility })))._unsafeUnwrap().task;
};
const finished = async (visibility: Visibility, account = owner): Promise<SucceededTask> => {
  const { id } = await create(visibility, account);
  await world.clock.advance(5_000);
  await world.settle();
  await world.keep();
  return (await world.tasks.find(id, account)) as SucceededTask;
};
const linkTo = (...slugs: readonly (Slug | undefined)[]) =>
  parseHotspots(slugs.map((to) => ({ yaw: 10, pitch: 0, note: "here", to })))._unsafeUnwrap();
const current = async (): Promise<SucceededTask> => (await world.tasks.find(hall.id, owner)) as SucceededTask;

describe("setHotspots", () => {
  it("replaces the hotspots of a finished panorama, for its owner only", async () => {
    const cellar = await finished("private");
    const hotspots = linkTo(undefined, cellar.slug);
    expect((await setHotspots(world)(hall.id, owner, hotspots)).isOk()).toBe(true);
    expect((await current()).hotspots).toEqual(hotspots);
    expect((await setHotspots(world)(hall.id, stranger, linkTo(undefined)))._unsafeUnwrapErr().kind).toBe("not_found");
    expect((await setHotspots(world)(taskId(404), owner, linkTo()))._unsafeUnwrapErr().kind).toBe("not_found");
    expect((await current()).hotspots).toEqual(hotspots);
    expect((await setHotspots(world)(hall.id, owner, linkTo())).isOk()).toBe(true);
    expect((await current()).hotspots).toBeUndefined();
    const { id } = await create("public");
    expect((await setHotspots(world)(id, owner, hotspots))._unsafeUnwrapErr().kind).toBe("not_found");
  });

  it("refuses each link that leads to no other finished panorama of the owner, with one sentence for all", async () => {
    const deleted = await finished("public");
    (await world.tasks.hide(deleted.id, owner, noon))._unsafeUnwrap();
    const targets = {
      foreign: (await finished("public", stranger)).slug,
      "foreign and private": (await finished("private", stranger)).slug,
      deleted: deleted.slug,
      unfinished: (await create("public")).slug,
      unknown: slug("unknownslug00000"),
      itself: hall.slug,
    };
    for (const [what, actual] of Object.entries(targets)) {
      const refusal = (await setHotspots(world)(hall.id, owner, linkTo(undefined, actual)))._unsafeUnwrapErr();
      expect([what, refusal]).toEqual([
        what,
        { kind: "invalid_request", field: "to", index: 1, rule: { name: "own_panorama", actual } },
      ]);
    }
    expect((await current()).hotspots).toBeUndefined();
  });
});

describe("setHotspots with moderation", () => {
  type Says = "allow" | "review" | "block" | "down";
  const noted = (...notes: readonly string[]) =>
    parseHotspots(notes.map((note) => ({ yaw: 1, pitch: 1, note })))._unsafeUnwrap();
  /** Answers by the text, and remembers what it was asked about. */
  const saying = (answers: Readonly<Record<string, Says>>) => {
    const asked: string[] = [];
    const moderation: Moderation = {
      hashOf: () => "hash",
      judge: async (part) => {
        const note = part.kind === "text" ? part.text : "";
        asked.push(note);
        const answer = answers[note] ?? "allow";
        return answer === "down" ? err({ kind: "moderation_unavailable", reason: "status 500" }) : ok(answer);
      },
    };
    return { asked, moderation };
  };
  const setWith = (moderation: Moderation, whenUnavailable: "refuse" | "allow" = "refuse") =>
    setHotspots({ ...world, moderation }, { moderationWhenUnavailable: whenUnavailable });
  const isSeen = async () => (await world.tasks.findBySlug(hall.slug))?.request.visibility === "public";

  it("refuses a note as it refuses a prompt, and keeps the hotspots of before", async () => {
    const { moderation } = saying({ bad: "block", odd: "review", lost: "down" });
    (await setWith(moderation)(hall.id, owner, noted("a bench")))._unsafeUnwrap();
    expect(
      (await setWith(moderation)(hall.id, owner, noted("odd", "a lake", "bad", "lost")))._unsafeUnwrapErr(),
    ).toEqual({
      kind: "invalid_request",
      field: "note",
      index: 2,
      rule: { name: "content_refused" },
    });
    expect((await setWith(moderation)(hall.id, owner, noted("odd", "lost")))._unsafeUnwrapErr()).toEqual({
      kind: "upstream_error",
    });
    expect([(await current()).hotspots, await isSeen()]).toEqual([noted("a bench"), true]);
    const saved = await setWith(moderation, "allow")(hall.id, owner, noted("lost"));
    expect(saved._unsafeUnwrap()).toEqual({ needsReview: false });
    expect(JSON.stringify(world.reporter.events)).not.toContain("lost");
  });

  it("hides the panorama until an operator has seen a doubtful note, and asks about no note twice", async () => {
    const { moderation, asked } = saying({ odd: "review" });
    const set = setWith(moderation);
    expect((await set(hall.id, stranger, noted("odd")))._unsafeUnwrapErr().kind).toBe("not_found");
    expect([asked, await isSeen()]).toEqual([[], true]);
    expect((await set(hall.id, owner, noted("odd", "odd")))._unsafeUnwrap()).toEqual({ needsReview: true });
    expect([(await current()).hotspots, await isSeen()]).toEqual([noted("odd", "odd"), false]);
    expect((await world.operators.reviews(9)).map(({ task }) => task.id)).toEqual([hall.id]);
    expect((await world.tasks.setVisibility(hall.id, owner, "public")).isErr()).toBe(true);

    (await world.tasks.withhold(hall.id, undefined))._unsafeUnwrap();
    expect((await set(hall.id, owner, noted("odd", "new")))._unsafeUnwrap()).toEqual({ needsReview: false });
    expect([asked, await isSeen()]).toEqual([["odd", "new"], true]);
  });
});

describe("findLinkedPanoramas", () => {
  it("finds what a visitor may see, now: public ones, and the owner also private and hidden ones", async () => {
    const [open, secret, hidden, deleted] = [
      await finished("public"),
      await finished("private"),
      await finished("public"),
      await finished("public"),
    ];
    const all = [open, secret, hidden, deleted];
    (await setHotspots(world)(hall.id, owner, linkTo(...all.map((task) => task.slug))))._unsafeUnwrap();
    const seen = async (visitor: AccountId | undefined) => {
      const found = await findLinkedPanoramas(world)(await current(), visitor);
      return all.filter((task) => found.some(({ id }) => id === task.id));
    };
    expect(await seen(undefined)).toEqual([open, hidden, deleted]);
    (await world.tasks.withhold(hidden.id, { at: noon, reason: "a report" }))._unsafeUnwrap();
    (await world.tasks.hide(deleted.id, owner, noon))._unsafeUnwrap();
    for (const visitor of [undefined, stranger, accountId(404)]) expect(await seen(visitor)).toEqual([open]);
    expect(await seen(owner)).toEqual([open, secret, hidden]);
    (await world.tasks.setVisibility(open.id, owner, "private"))._unsafeUnwrap();
    expect(await seen(undefined)).toEqual([]);
  });

  it("asks for nothing where there are no links", async () => {
    expect(await findLinkedPanoramas(world)(hall, owner)).toEqual([]);
  });
});
