import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  anAccount,
  anImageName,
  aSucceededTask,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { memoryDatabase } from "../../../adapters/persistence/memory-stores.js";
import { sqlStores } from "../../../adapters/persistence/sql-stores.js";
import { panoramas as panoramasOf } from "../../../application/panoramas/panoramas.js";
import type { TaskPorts } from "../../../application/ports/stores/stores.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { isFoundBy, searchWords } from "../../../domain/tasks/prompt-search.js";
import type { Slug } from "../../../domain/tasks/slug.js";
import type { Task } from "../../../domain/tasks/task.js";
import { putTask } from "../../support/put-task.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

const create = async (visibility: "public" | "private"): Promise<Task> => {
  await world.clock.advance(1);
  return (await world.createPanorama(owner, aCreationRequest({ visibility })))._unsafeUnwrap().task;
};
const finish = async () => {
  await world.clock.advance(5_000);
  await world.settle();
  await world.store();
};
const unknown = "unknown-slug-000" as Slug;

describe("panoramas.findOwn", () => {
  it("finds a panorama in any state, for its owner only", async () => {
    const { slug, id } = await create("private");
    expect((await panoramasOf(world).findOwn(slug, owner))?.id).toBe(id);
    await finish();
    expect(await panoramasOf(world).findOwn(slug, owner)).toMatchObject({ id, state: "succeeded" });
    expect(await panoramasOf(world).findOwn(slug, accountId(404))).toBeUndefined();
    expect(await panoramasOf(world).findOwn(unknown, owner)).toBeUndefined();
  });
});

describe("panoramas.findPublic", () => {
  it("finds a public panorama once it is finished", async () => {
    const { slug, id } = await create("public");
    expect(await panoramasOf(world).findPublic(slug)).toBeUndefined();
    await finish();
    expect(await panoramasOf(world).findPublic(slug)).toMatchObject({ id, state: "succeeded" });
    expect(await panoramasOf(world).findPublic(unknown)).toBeUndefined();
  });

  it("follows a change of the visibility by the owner, and refuses one by others", async () => {
    const { slug, id } = await create("private");
    await finish();
    expect(await panoramasOf(world).findPublic(slug)).toBeUndefined();
    expect((await world.tasks.setVisibility(id, accountId(404), "public"))._unsafeUnwrapErr().kind).toBe("not_found");
    expect(await panoramasOf(world).findPublic(slug)).toBeUndefined();
    expect((await world.tasks.setVisibility(id, owner, "public")).isOk()).toBe(true);
    expect((await panoramasOf(world).findPublic(slug))?.id).toBe(id);
  });
});

describe("panoramas.listPublic", () => {
  it("lists the public panoramas newest first, page by page", async () => {
    const made: Task[] = [];
    for (const visibility of ["public", "private", "public", "public"] as const) made.push(await create(visibility));
    expect(await panoramasOf(world).listPublic(9)).toEqual({ panoramas: [], next: undefined, newer: undefined });
    await finish();
    const newestFirst = [made[3]?.id, made[2]?.id, made[0]?.id];
    const pages: (string | undefined)[][] = [];
    for (let before: Task["id"] | undefined, page = 0; page < 9; page += 1) {
      const { panoramas, next } = await panoramasOf(world).listPublic(2, { before });
      pages.push(panoramas.map(({ id }) => id));
      if (next === undefined) break;
      before = next;
    }
    expect(pages).toEqual([newestFirst.slice(0, 2), newestFirst.slice(2)]);
    const whole = await panoramasOf(world).listPublic(3);
    expect(whole.panoramas.map(({ id }) => id)).toEqual(newestFirst);
    expect([whole.next, whole.newer]).toEqual([undefined, undefined]);
  });

  it("is empty in the mode off, and so is its search", async () => {
    const { id } = await create("public");
    await finish();
    const ids = async (gallery: "off" | "open") => {
      const pages = [
        await panoramasOf(world, { gallery }).listPublic(9),
        await panoramasOf(world, { gallery }).searchPublic(searchWords("a"), 9),
      ];
      return pages.map(({ panoramas }) => panoramas.map((panorama) => panorama.id));
    };
    expect(await ids("open")).toEqual([[id], [id]]);
    expect(await ids("off")).toEqual([[], []]);
  });
});

describe("panoramas.searchPublic", () => {
  const page = 3;
  /** As many public panoramas as prompts, from old to new. */
  const published = async (prompts: readonly string[]) => {
    const database = memoryDatabase();
    const { accounts, tasks } = sqlStores(database);
    await accounts.open(anAccount());
    const image = { status: "saved", temporaryUrl: "https://p.example/", imageName: anImageName() } as const;
    for (const [n, prompt] of prompts.entries()) {
      const request = { ...aCreationRequest({ visibility: "public" }), prompt };
      const task = aSucceededTask({ id: taskId(n), request, image });
      await putTask(database, task);
    }
    return tasks;
  };
  /** All pages of a search from the beginning, over `newer` or `next`, and back again. */
  const walk = async (tasks: TaskPorts, search: string, sort: "newest" | "oldest") => {
    const find = panoramasOf({ ...world, tasks }).searchPublic;
    const [forward, back] = sort === "newest" ? (["next", "newer"] as const) : (["newer", "next"] as const);
    const at = (cursor: TaskId | undefined, side: "next" | "newer") =>
      find(searchWords(search), page, { [side === "next" ? "before" : "after"]: cursor, sort });
    const pages = [await find(searchWords(search), page, { sort })];
    for (let one = pages[0]; one?.[forward] !== undefined; ) {
      one = await at(one[forward], forward);
      pages.push(one);
    }
    const returned: TaskId[] = [];
    const links = pages.slice(1).map((one) => one[back] !== undefined);
    for (let one = pages.at(-1); one?.[back] !== undefined; ) {
      one = await at(one[back], back);
      links.push(one[forward] !== undefined);
      returned.unshift(...one.panoramas.map(({ id }) => id));
    }
    expect(links).not.toContain(false);
    const idsOf = (one: (typeof pages)[number] | undefined) => one?.panoramas.map(({ id }) => id) ?? [];
    return { pages, ids: pages.flatMap(idsOf), returned: [...returned, ...idsOf(pages.at(-1))] };
  };

  it("finds the same as the domain's rule, each once, in both orders and directions", async () => {
    const prompts = fc.array(fc.constantFrom("a lake", "Lakes", "dunes", "a lake, dunes", "Düne"), { maxLength: 20 });
    const sorts = fc.constantFrom("newest" as const, "oldest" as const);
    await fc.assert(
      fc.asyncProperty(prompts, fc.constantFrom("lak", "dune", "LAKE dun", "x"), sorts, async (given, search, sort) => {
        const { pages, ids, returned } = await walk(await published(given), search, sort);
        const found = given.flatMap((prompt, n) => (isFoundBy(searchWords(search), prompt) ? [taskId(n)] : []));
        expect(ids).toEqual(sort === "newest" ? found.reverse() : found);
        expect(returned).toEqual(ids);
        expect(pages.map(({ panoramas }) => panoramas.length)).toEqual(
          found.length === 0 ? [0] : Array.from(pages, (_, n) => Math.min(page, found.length - n * page)),
        );
      }),
    );
  });
});
