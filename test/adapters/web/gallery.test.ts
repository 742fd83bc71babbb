import fc from "fast-check";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { updateSearch } from "../../../adapters/persistence/prepared/tasks/search-rows.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { putTask } from "../../support/put-task.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

let service: WebService;
let ann: Person;
let first: SucceededTask;

beforeAll(async () => {
  service = await WebService.start();
  ann = await service.person("ann", 1000);
  service.provider.play({ poll: "succeeded", download: "image" });
  first = await service.kept(ann, { resolution: "2k" });
});
afterAll(async () => {
  await service?.end();
  expect(service?.failures).toEqual([]);
});
beforeEach(async () => {
  const { sql, dialect } = service.database;
  const before = await sql("update task set deleted_at = reserved_at returning id");
  await updateSearch(
    sql,
    dialect,
    before.map(({ id }) => id),
  );
});

/** Stores finished panoramas with these prompts, from old to new. Returns them from new to old. */
const publish = async (
  prompts: readonly string[],
  differences: Partial<SucceededTask> = {},
): Promise<SucceededTask[]> => {
  const published: SucceededTask[] = [];
  for (const prompt of prompts) {
    const request = { ...(differences.request ?? first.request), prompt } as SucceededTask["request"];
    const task = { ...first, ...differences, id: service.ids.taskId(), slug: service.ids.slug(), request };
    await putTask(service.database, task);
    published.unshift(task);
  }
  return published;
};

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(service.url + path, { redirect: "manual", headers });

/** What a reader sees of a page of the gallery. */
const read = async (path: string) => {
  const answer = await get(path);
  const text = await answer.text();
  const decoded = (html: string | undefined) =>
    html
      ?.replaceAll(/<\/?bdi>/g, "")
      .replaceAll("&amp;", "&")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'");
  const linkOf = (rel: string) => {
    const [, attributes = "", words] = new RegExp(`<a class="[^"]*" rel="${rel}"([^>]*)>([^<]*)<`).exec(text) ?? [];
    return words === undefined ? undefined : { words, path: decoded(/href="([^"]*)"/.exec(attributes)?.[1]) ?? "" };
  };
  return {
    status: answer.status,
    text,
    slugs: [...text.matchAll(/<li><a href="\/p\/([^"]*)"/g)].map(([, slug]) => slug),
    nothing: decoded(/<div class="nothing"><p>(.*?)<\/p>/.exec(text)?.[1]),
    field: decoded(/<input type="search" name="q" value="([^"]*)"/.exec(text)?.[1]),
    next: linkOf("next"),
    prev: linkOf("prev"),
  };
};
const slugsOf = (tasks: readonly SucceededTask[]) => tasks.map(({ slug }) => slug as string);
const search = (q: string, more: Readonly<Record<string, string>> = {}) =>
  `/gallery?${new URLSearchParams({ q, ...more })}`;

describe("the search of the gallery", () => {
  it("shows the panoramas whose prompts have its words, and keeps them in the field and in the links", async () => {
    const lakes = await publish(
      Array.from({ length: 30 }, (_, n) => (n % 2 ? `A quiet läke ${n}` : `Lakes at night, quietly`)),
    );
    await publish(["dunes", "a quiet street"]);
    const page = await read(search(" LAKE quiet "));
    expect([page.status, page.field, page.slugs]).toEqual([200, "LAKE quiet", slugsOf(lakes.slice(0, 24))]);
    expect(page.text).toContain('Results for “<bdi>LAKE quiet</bdi>” · <a href="/gallery">Show all</a>');
    expect(page.text).toContain("<title>LAKE quiet · Gallery · Panorama</title>");
    expect(page.text).toContain('<meta name="robots" content="noindex">');
    expect(page.next).toEqual({
      words: "Older panoramas",
      path: `/gallery?q=LAKE+quiet&before=${lakes[23]?.id}`,
    });
    const second = await read(page.next?.path ?? "");
    expect([second.slugs, second.next]).toEqual([slugsOf(lakes.slice(24)), undefined]);
    expect(second.prev?.path).toBe(`/gallery?q=LAKE+quiet&after=${lakes[24]?.id}`);
    const back = await get(second.prev?.path ?? "");
    expect([back.status, back.headers.get("location")]).toEqual([303, "/gallery?q=LAKE+quiet"]);
  });

  it("shows an empty result with a link to all panoramas", async () => {
    await publish(["dunes"]);
    const page = await read(search(`zebra "x" <b>`));
    expect([page.status, page.slugs, page.field]).toEqual([200, [], `zebra "x" &lt;b&gt;`]);
    expect(page.nothing).toBe(`Nothing found for “zebra "x" &lt;b&gt;”.`);
    expect(page.text).toContain('<a class="button" href="/gallery">Show all panoramas</a>');
  });

  it("finds no private, hidden or unsaved panorama", async () => {
    await publish(["private lake"], { request: { ...first.request, visibility: "private" } });
    await publish(["unsaved lake"], { image: { ...first.image, status: "uploading", failedAttempts: 0 } });
    const [hidden] = await publish(["hidden lake"]);
    await service.tasks.delete(hidden!.id, ann.id, service.clock.now());
    const [shown] = await publish(["a lake"]);
    expect((await read(search("lake"))).slugs).toEqual([shown?.slug]);
  });

  it("answers every text with a page, and shows all panoramas if it has no words", async () => {
    const [only] = await publish(["a lake"]);
    const codePoint = fc.oneof(fc.nat(0xff), fc.nat(0xffff), fc.nat(0x10ffff));
    const text = fc.array(codePoint, { maxLength: 150 }).map((points) => String.fromCodePoint(...points));
    await fc.assert(
      fc.asyncProperty(text, async (q) => {
        expect((await read(search(q))).status).toBe(200);
      }),
      { numRuns: 20, examples: [["\0"], ["%"], ["'--"], ["\ud800"], ["a".repeat(3_000)]] },
    );
    for (const path of ["/gallery?q=?!", "/gallery?q=", "/gallery?q=lake&q=x&sort=up"])
      expect([path, (await read(path)).slugs]).toEqual([path, [only?.slug]]);
    expect((await read("/gallery?q=%FF&before=%00")).status).toBe(200);
    const { field } = await read(search(`${"🌊".repeat(99)}ab`));
    expect(field).toBe(`${"🌊".repeat(99)}a`);
  });
});

describe("the order of the gallery", () => {
  it("lists old to new on request, with links to the next and previous page", async () => {
    const oldest = (await publish(Array.from({ length: 50 }, (_, n) => `number ${n}`))).reverse();
    const page = await read("/gallery?sort=oldest");
    expect([page.slugs, page.prev]).toEqual([slugsOf(oldest.slice(0, 24)), undefined]);
    expect(page.text).toContain(
      '<a href="/gallery">Newest</a><a href="/gallery?sort=oldest" aria-current="true">Oldest</a>',
    );
    expect(page.text).toContain('<input type="hidden" name="sort" value="oldest">');
    expect(page.next).toEqual({
      words: "Newer panoramas",
      path: `/gallery?sort=oldest&after=${oldest[23]?.id}`,
    });
    const second = await read(page.next?.path ?? "");
    const third = await read(second.next?.path ?? "");
    expect([second.slugs, third.slugs, third.next]).toEqual([
      slugsOf(oldest.slice(24, 48)),
      slugsOf(oldest.slice(48)),
      undefined,
    ]);
    expect(third.prev?.words).toBe("Older panoramas");
    expect((await read(third.prev?.path ?? "")).slugs).toEqual(second.slugs);
    expect((await get(second.prev?.path ?? "")).headers.get("location")).toBe("/gallery?sort=oldest");
    expect((await read(search("number 1", { sort: "oldest" }))).slugs).toEqual(
      slugsOf([1, ...Array.from({ length: 10 }, (_, n) => n + 10)].map((n) => oldest[n]!)),
    );
  });
});

describe("the pictures of tiles and the front page", () => {
  const pictureOf = (text: string) => /<img src="([^"]*)"(?: srcset="([^"]*)" sizes="([^"]*)")? alt=""/.exec(text);

  it("show the viewer's start view in tiles, in two widths", async () => {
    const [small] = await publish(["a lake"], { request: { ...first.request, resolution: "1k" } });
    const path = `/p/${small?.slug}/tile-480.webp`;
    expect(pictureOf((await read("/gallery")).text)?.slice(1, 3)).toEqual([path, `${path} 480w`]);
    const figures = { seam: 0, seamRatio: 1, poleDeviation: { zenith: 0, nadir: 0 }, view: { yaw: 170, pitch: 0 } };
    const [large] = await publish(["a sea"], { figures });
    const [wide, wider] = [480, 960].map((width) => `/p/${large?.slug}/tile-${width}.webp?v=170,0`);
    expect(pictureOf((await read("/gallery")).text)?.slice(1, 3)).toEqual([wide, `${wide} 480w, ${wider} 960w`]);
    const picture = new Uint8Array(await (await get(wider ?? "")).arrayBuffer());
    expect(await sharp(picture).metadata()).toMatchObject({ format: "webp", width: 960, height: 720 });
    expect((await get(`/p/${small?.slug}/tile-960.webp`)).status).toBe(404);
  });

  it("have a copy 512 pixels wide, which may be cached", async () => {
    const [task] = await publish(["a lake"]);
    const answer = await get(`/p/${task?.slug}/512.webp`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/webp"]);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=86400");
    const picture = new Uint8Array(await answer.arrayBuffer());
    expect(await sharp(picture).metadata()).toMatchObject({ format: "webp", width: 512, height: 256 });
    const etag = answer.headers.get("etag") ?? "";
    expect((await get(`/p/${task?.slug}/512.webp`, { "if-none-match": etag })).status).toBe(304);
    const other = await get(`/p/${task?.slug}/social.jpg`, { "if-none-match": etag });
    expect(other.status).toBe(200);
  });

  it("return 404 in other widths, and for panoramas that are not public", async () => {
    const [small] = await publish(["a lake"], { request: { ...first.request, resolution: "1k" } });
    const [hidden] = await publish(["a lake"], { request: { ...first.request, visibility: "private" } });
    const [unsaved] = await publish(["a lake"], { image: { ...first.image, status: "uploading", failedAttempts: 0 } });
    const [expired] = await publish(["a lake"], { image: { ...first.image, status: "expired" } });
    const statusOf = async (task: SucceededTask | undefined, file: string) =>
      (await get(`/p/${task?.slug}/${file}`)).status;
    expect(await statusOf(small, "512.webp")).toBe(200);
    expect(await statusOf(small, "1024.webp")).toBe(404);
    expect(await statusOf(small, "512.jpg")).toBe(404);
    for (const task of [hidden, unsaved, expired])
      for (const file of ["512.webp", "tile-480.webp"]) expect(await statusOf(task, file)).toBe(404);
    expect((await get("/p/nope/512.webp")).status).toBe(404);
  });

  it("return 503 with a message while the image cannot be read", async () => {
    const [task] = await publish(["a lake"], {
      image: { ...first.image, imageName: `panoramas/${"A".repeat(22)}.jpg` as ObjectName },
    });
    const answer = await get(`/p/${task?.slug}/512.webp`);
    expect([answer.status, await answer.text()]).toEqual([503, "The picture cannot be read now. Try again later."]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  it("begin the landing page with the smallest copy", async () => {
    const [task] = await publish(["a lake"]);
    if (task) service.heroPanoramas.push(task.slug);
    const text = await (await get("/")).text();
    expect(text).toContain(`src="/p/${task?.slug}/512.webp"`);
  });
});

describe("the list of own panoramas", () => {
  it("shows views of public ones only, and leads back page by page to the newest", async () => {
    const newest = await publish(Array.from({ length: 60 }, (_, n) => `number ${n}`));
    const login = await fetch(`${service.url}/login`, {
      method: "POST",
      redirect: "manual",
      headers: { origin: service.url },
      body: new URLSearchParams({ email: ann.email, password: PASSWORD }),
    });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const works = async (path: string) => {
      const answer = await get(path, { cookie });
      const text = await answer.text();
      return {
        location: answer.headers.get("location"),
        ids: [...text.matchAll(/<li class="work" id="([^"]*)"/g)].map(([, id]) => id),
        newer: /rel="prev" href="([^"]*)">Newer panoramas</.exec(text)?.[1],
        older: /rel="next" href="([^"]*)">Older panoramas</.exec(text)?.[1],
        hasForm: text.includes('id="create"'),
        views: text.match(/<img src="\/p\/[a-z0-9]{16}\/tile-480\.webp"/g)?.length ?? 0,
      };
    };
    const ids = newest.map(({ id }) => id as string);
    const page = await works("/works");
    expect(page).toMatchObject({ ids: ids.slice(0, 24), newer: undefined, hasForm: true, views: 24 });
    const second = await works(page.older ?? "");
    const third = await works(second.older ?? "");
    expect(third).toMatchObject({
      ids: ids.slice(48),
      older: undefined,
      newer: `/works?after=${ids[48]}`,
      hasForm: false,
    });
    expect(await works(third.newer ?? "")).toMatchObject({ ...second, hasForm: false });
    expect(await works(second.newer ?? "")).toMatchObject({ location: "/works" });
    expect((await works("/works?resolution=1k")).ids).toEqual([]);
    const found = await works("/works?q=numb&status=succeeded&visibility=public&resolution=2k");
    expect(found).toMatchObject({ ids: ids.slice(0, 24), hasForm: false });
    expect(found.older).toContain("q=numb&amp;status=succeeded&amp;visibility=public&amp;resolution=2k&amp;before=");
    expect((await works((found.older ?? "").replaceAll("&amp;", "&"))).ids).toEqual(ids.slice(24, 48));
    expect((await works("/works?q=numb+59")).ids).toEqual(ids.slice(0, 1));
    expect((await works("/works?status=failed")).ids).toEqual([]);

    await service.tasks.setVisibility(newest[0]!.id, ann.id, "private");
    expect((await works("/works")).views).toBe(23);
  });
});
