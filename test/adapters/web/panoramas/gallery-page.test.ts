import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { updateSearch } from "../../../../adapters/persistence/tasks/search-rows.js";
import type { SucceededTask } from "../../../../domain/tasks/task.js";
import { putTask } from "../../../support/put-task.js";
import { logIn, setUpService, visiting } from "../../../support/visit.js";
import type { Person } from "../../../support/web-service.js";

const service = setUpService();
let ann: Person;
let first: SucceededTask;

beforeAll(async () => {
  ann = await service.person("ann", 1000);
  service.provider.play({ poll: "succeeded", download: "image" });
  first = await service.kept(ann, { resolution: "2k" });
});
beforeEach(async () => {
  const { sql, dialect } = service.database;
  const before = await sql("update task set deleted_at = reserved_at returning id");
  const ids = before.map(({ id }) => id);
  await updateSearch(sql, dialect, ids);
});

/** Stores finished panoramas with these prompts, from old to new. Returns them from new to old. */
const publish = async (prompts: readonly string[], differences: Partial<SucceededTask> = {}) => {
  const published: SucceededTask[] = [];
  for (const prompt of prompts) {
    const request = { ...(differences.request ?? first.request), prompt } as SucceededTask["request"];
    const task = { ...first, ...differences, id: service.ids.taskId(), slug: service.ids.slug(), request };
    await putTask(service.database, task);
    published.unshift(task);
  }
  return published;
};
const numbers = (count: number) => Array.from({ length: count }, (_, n) => `number ${n}`);

const decoded = (html: string | undefined) =>
  html
    ?.replaceAll(/<\/?bdi>/g, "")
    .replaceAll("&amp;", "&")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'");

/** What a reader sees of a page of the gallery. */
const read = async (path: string) => {
  const { status, text, location } = await visiting(service).get(path);
  const linkOf = (rel: string) => {
    const [, attributes = "", words] = new RegExp(`<a class="[^"]*" rel="${rel}"([^>]*)>([^<]*)<`).exec(text) ?? [];
    return words === undefined ? undefined : { words, path: decoded(/href="([^"]*)"/.exec(attributes)?.[1]) ?? "" };
  };
  return {
    ...{ status, text, location },
    slugs: [...text.matchAll(/<li><a class="dark" href="\/p\/([^"]*)"/g)].map(([, slug]) => slug),
    nothing: decoded(/<div class="nothing"><p>(.*?)<\/p>/.exec(text)?.[1]),
    field: decoded(/<input type="search" name="q" value="([^"]*)"/.exec(text)?.[1]),
    next: linkOf("next"),
    prev: linkOf("prev"),
  };
};
const slugsOf = (tasks: readonly SucceededTask[]) => tasks.map(({ slug }) => slug as string);
const search = (q: string, more: Readonly<Record<string, string>> = {}) =>
  `/gallery?${new URLSearchParams({ q, ...more })}`;

describe("the gallery", () => {
  it("shows the panoramas whose prompts have the words, and keeps them in the field and in the links", async () => {
    const lakes = await publish(
      Array.from({ length: 30 }, (_, n) => (n % 2 ? `A quiet läke ${n}` : `Lakes at night, quietly`)),
    );
    await publish(["dunes", "a quiet street"]);
    const page = await read(search(" LAKE quiet "));
    expect([page.status, page.field, page.slugs]).toEqual([200, "LAKE quiet", slugsOf(lakes.slice(0, 24))]);
    expect(page.text).toContain('Results for “<bdi>LAKE quiet</bdi>” · <a href="/gallery">Show all</a>');
    expect(page.text).toContain("<title>LAKE quiet · Gallery · Panorama</title>");
    expect(page.text).toContain('<meta name="robots" content="noindex">');
    const path = `/gallery?q=LAKE+quiet&before=${lakes[23]?.id}`;
    expect(page.next).toEqual({ words: "Older panoramas", path });
    const second = await read(path);
    expect([second.slugs, second.next]).toEqual([slugsOf(lakes.slice(24)), undefined]);
    expect(second.prev?.path).toBe(`/gallery?q=LAKE+quiet&after=${lakes[24]?.id}`);
    expect(await read(second.prev?.path ?? "")).toMatchObject({ status: 303, location: "/gallery?q=LAKE+quiet" });
  });

  it("shows an empty result with a link to all panoramas", async () => {
    await publish(["dunes"]);
    const page = await read(search(`zebra "x" <b>`));
    expect([page.status, page.slugs, page.field]).toEqual([200, [], `zebra "x" &lt;b&gt;`]);
    expect(page.nothing).toBe(`Nothing found for “zebra "x" &lt;b&gt;”.`);
    expect(page.text).toContain('<a class="button" href="/gallery">Show all panoramas</a>');
  });

  it("answers every text with a page, and shows all panoramas if it has no words", async () => {
    const [only] = await publish(["a lake <script>alert(1)</script>"]);
    expect((await read("/gallery")).text).not.toContain("<script>alert");
    for (const q of ["\0", "%", "'--", "\ud800", "a".repeat(3_000)])
      expect([q, (await read(search(q))).status]).toEqual([q, 200]);
    for (const path of ["/gallery?q=?!", "/gallery?q=", "/gallery?q=lake&q=x&sort=up"])
      expect([path, (await read(path)).slugs]).toEqual([path, [only?.slug]]);
    expect((await read("/gallery?q=%FF&before=%00")).status).toBe(200);
    const { field } = await read(search(`${"🌊".repeat(99)}ab`));
    expect(field).toBe(`${"🌊".repeat(99)}a`);
  });

  it("lists old to new on request, with links to the next and previous page", async () => {
    const oldest = (await publish(numbers(26))).reverse();
    const page = await read("/gallery?sort=oldest");
    expect([page.slugs, page.prev]).toEqual([slugsOf(oldest.slice(0, 24)), undefined]);
    const choice = '<a href="/gallery">Newest</a><a href="/gallery?sort=oldest" aria-current="true">Oldest</a>';
    expect(page.text).toContain(choice);
    expect(page.text).toContain('<input type="hidden" name="sort" value="oldest">');
    const path = `/gallery?sort=oldest&after=${oldest[23]?.id}`;
    expect(page.next).toEqual({ words: "Newer panoramas", path });
    const second = await read(path);
    expect([second.slugs, second.next, second.prev?.words]).toEqual([
      slugsOf(oldest.slice(24)),
      undefined,
      "Older panoramas",
    ]);
    expect((await read(second.prev?.path ?? "")).location).toBe("/gallery?sort=oldest");
    const found = await read(search("number 1", { sort: "oldest" }));
    expect(found.slugs).toEqual(slugsOf([oldest[1]!, ...oldest.slice(10, 20)]));
  });
});

describe("the list of own panoramas", () => {
  it("shows views of public ones only, and leads back page by page to the newest", async () => {
    const newest = await publish(numbers(60));
    const { get } = await logIn(service, ann);
    const works = async (path: string) => {
      const { location, text } = await get(path);
      return {
        location,
        ids: [...text.matchAll(/<li class="work" id="([^"]*)"/g)].map(([, id]) => id),
        newer: /rel="prev" href="([^"]*)">Newer panoramas</.exec(text)?.[1],
        older: decoded(/rel="next" href="([^"]*)">Older panoramas</.exec(text)?.[1]),
        hasForm: text.includes('id="create"'),
        views: text.match(/<img src="\/p\/[a-z0-9]{16}\/tile-480\.webp"/g)?.length ?? 0,
      };
    };
    const ids = newest.map(({ id }) => id as string);
    const page = await works("/works");
    expect(page).toMatchObject({ ids: ids.slice(0, 24), newer: undefined, hasForm: true, views: 24 });
    const second = await works(page.older ?? "");
    const third = await works(second.older ?? "");
    const newer = `/works?after=${ids[48]}`;
    expect(third).toMatchObject({ ids: ids.slice(48), older: undefined, newer, hasForm: false });
    expect(await works(newer)).toMatchObject({ ...second, hasForm: false });
    expect(await works(second.newer ?? "")).toMatchObject({ location: "/works" });
    const found = await works("/works?q=numb&status=succeeded&visibility=public&resolution=2k");
    expect(found).toMatchObject({ ids: ids.slice(0, 24), hasForm: false });
    expect(found.older).toContain("q=numb&status=succeeded&visibility=public&resolution=2k&before=");
    expect((await works(found.older ?? "")).ids).toEqual(ids.slice(24, 48));
    expect((await works("/works?q=numb+59")).ids).toEqual(ids.slice(0, 1));
    for (const none of ["status=failed", "resolution=1k"]) expect((await works(`/works?${none}`)).ids).toEqual([]);
    await service.tasks.setVisibility(newest[0]!.id, ann.id, "private");
    expect((await works("/works")).views).toBe(23);
  });
});
