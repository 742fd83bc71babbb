import sharp from "sharp";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { thumbnailNameOf } from "../../../../domain/images/object-name.js";
import type { StartView } from "../../../../domain/images/picture.js";
import type { SucceededTask } from "../../../../domain/tasks/task.js";
import { halvesOf } from "../../../support/pixels.js";
import { changeTask } from "../../../support/put-task.js";
import { logIn, setUpService, visiting } from "../../../support/visit.js";
import type { Person } from "../../../support/web-service.js";

describe("a public panorama on other pages", () => {
  const service = setUpService();
  let ann: Person;
  let task: SucceededTask;

  beforeAll(async () => {
    ann = await service.person("ann", 1000);
    service.provider.play({ poll: "succeeded", download: "image" });
    task = await service.kept(ann, { prompt: 'a "quoted" place', resolution: "2k" });
  });
  beforeEach(() => changeTask(service.database, task));

  const read = async (path: string) => (await visiting(service).get(path)).text;
  const fetched = (path: string, etag?: string) =>
    fetch(new URL(path, service.url), etag === undefined ? {} : { headers: { "if-none-match": etag } });
  const bytesOf = async (answer: Response) => new Uint8Array(await answer.arrayBuffer());
  const contentOf = (html: string, name: string): string | undefined =>
    new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)">`).exec(html)?.[1];
  const change = (differences: Partial<SucceededTask>) => changeTask(service.database, { ...task, ...differences });
  /** As if its best part had been found there. */
  const measure = (view: StartView) =>
    change({ figures: { seam: 0, seamRatio: 1, poleDeviation: { zenith: 0, nadir: 0 }, view } });
  const oembed = (query: Readonly<Record<string, string>> = {}) =>
    fetched(`/oembed?${new URLSearchParams({ url: `${service.url}/p/${task.slug}`, ...query })}`);

  it.each([
    ["social.jpg", { format: "jpeg", width: 1200, height: 630 }, [1, 2]],
    ["512.webp", { format: "webp", width: 512, height: 256 }, undefined],
    ["tile-480.webp", { format: "webp", width: 480, height: 360 }, [1, 2]],
    ["tile-960.webp", { format: "webp", width: 960, height: 720 }, [1, 2]],
  ])("is the picture %s, %j, which caches may keep by its ETag", async (file, metadata, halves) => {
    const answer = await fetched(`/p/${task.slug}/${file}`);
    const picture = await bytesOf(answer);
    expect(await sharp(picture).metadata()).toMatchObject(metadata);
    if (halves !== undefined) expect(await halvesOf(picture)).toEqual(halves);
    const etag = answer.headers.get("etag") ?? "";
    expect((await fetched(`/p/${task.slug}/${file}`, etag)).status).toBe(304);
    const other = file === "social.jpg" ? "512.webp" : "social.jpg";
    expect((await fetched(`/p/${task.slug}/${other}`, etag)).status).toBe(200);
  });

  it("has no picture wider than itself, of another format, or while it is not saved", async () => {
    const small = await service.kept(ann, { resolution: "1k" });
    const { slug } = task;
    for (const path of [
      ...["1024.webp", "tile-960.webp"].map((file) => `${small.slug}/${file}`),
      ...[`${slug}/512.jpg`, "nope/512.webp"],
    ])
      expect([path, (await fetched(`/p/${path}`)).status]).toEqual([path, 404]);
    for (const image of [
      { ...task.image, status: "uploading", failedAttempts: 0 },
      { ...task.image, status: "expired" },
    ] as const) {
      await change({ image });
      for (const file of ["social.jpg", "512.webp", "tile-480.webp"])
        expect((await fetched(`/p/${slug}/${file}`)).status).toBe(404);
    }
    expect(await read(`/p/${slug}`)).toMatch(/<h1[^>]*>Image no longer available<.*>Go to the front page</s);
    expect(await (await logIn(service, ann)).read(`/works/${slug}`)).toMatch(/>Use this prompt<.*>My panoramas</s);
  });

  it("answers 503 with a message while the image cannot be read", async () => {
    const lost = await service.kept(ann);
    const { imageName } = lost.image;
    for (const name of [imageName, thumbnailNameOf(imageName)]) await service.storage.delete(name);
    for (const file of ["512.webp", "social.jpg"]) {
      const answer = await fetched(`/p/${lost.slug}/${file}`);
      expect([answer.status, await answer.text()]).toEqual([503, "The picture cannot be read now. Try again later."]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
    await service.tasks.setVisibility(lost.id, ann.id, "private");
  });

  it("shows its best view in link previews, tiles, oEmbed and at the start", async () => {
    const page = `/p/${task.slug}`;
    const tileOf = async () =>
      new RegExp(`<img src="(${page}/tile-480[^"]*)" srcset="([^"]*)"`).exec(await read("/gallery"));
    const usual = await read(page);
    const names = ["og:title", "og:url", "og:image", "twitter:card"];
    expect(names.map((name) => contentOf(usual, name))).toEqual([
      ...["a &quot;quoted&quot; place", service.url + page],
      ...[`${service.url}${page}/social.jpg`, "summary_large_image"],
    ]);
    expect(usual).toContain('href="/signup?prompt=a+%22quoted%22+place"'); // "Use this prompt"
    expect((await tileOf())?.[1]).toBe(`${page}/tile-480.webp`);
    await measure({ yaw: -135, pitch: 5 });
    const html = await read(page);
    expect(html).toContain('data-start="-135,5"');
    const preview = contentOf(html, "og:image") ?? "";
    expect(preview).toBe(`${service.url}${page}/social.jpg?v=-135,5`);
    expect(await (await oembed()).json()).toMatchObject({ thumbnail_url: preview });
    const [, tile = "", wider = ""] = (await tileOf()) ?? [];
    const [small, large] = [480, 960].map((width) => `${page}/tile-${width}.webp?v=-135,5`);
    expect([tile, wider]).toEqual([small, `${small} 480w, ${large} 960w`]);
    const first = await fetched(tile);
    for (const answer of [await fetched(preview), first]) expect(await halvesOf(await bytesOf(answer))).toEqual([0, 0]);
    await measure({ yaw: 180, pitch: 0 });
    expect(await halvesOf(await bytesOf(await fetched(tile, first.headers.get("etag") ?? "")))).toEqual([3, 0]);
  });

  it("is embedded by the oEmbed of its address, with or without what belongs to no page", async () => {
    const { slug } = task;
    const link = /<link rel="alternate" type="application\/json\+oembed" href="([^"]*)"/.exec(await read(`/p/${slug}`));
    const answer = await fetched(link?.[1]?.replaceAll("&amp;", "&") ?? "");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(await answer.json()).toMatchObject({
      ...{ version: "1.0", type: "rich", title: 'a "quoted" place', provider_url: `${service.url}/` },
      thumbnail_url: `${service.url}/p/${slug}/social.jpg`,
      html: `<iframe src="${service.url}/p/${slug}?embed=1" width="960" height="540" title="a &quot;quoted&quot; place" style="border:0;max-width:100%" loading="lazy" allow="fullscreen; gyroscope; accelerometer; xr-spatial-tracking" allowfullscreen></iframe>`,
      ...{ width: 960, height: 540 },
    });
    expect((await oembed({ url: `${service.url}/p/${slug}//?embed=1#v=1,2,90` })).status).toBe(200);
    expect((await oembed({ format: "xml" })).status).toBe(501);
    for (const url of ["", "no url", `https://other.example/p/${slug}`, `${service.url}/works/${slug}`])
      expect([url, (await oembed({ url })).status]).toEqual([url, 404]);
  });

  it.each([
    [{ maxwidth: "5000", maxheight: "5000" }, [960, 540], [1200, 630]],
    [{ maxwidth: "640" }, [640, 360], [600, 315]],
    [{ maxwidth: "300" }, [300, 169], [200, 105]],
    [{ maxheight: "300" }, [533, 300], [400, 210]],
    [{ maxwidth: "500", maxheight: "90" }, [160, 90], [80, 42]],
    [{ maxwidth: "70" }, [70, 39], undefined],
    [{ maxwidth: "1", maxheight: "1" }, [1, 1], undefined],
    [{ maxwidth: "0", maxheight: "many" }, [960, 540], [1200, 630]],
  ])("is embedded in proportional sizes within %j", async (limits, frame, thumbnail) => {
    const told = (await (await oembed(limits)).json()) as Record<string, string | number>;
    expect([told.width, told.height]).toEqual(frame);
    expect(told.html).toContain(` width="${frame[0]}" height="${frame[1]}" `);
    const { thumbnail_url: url, thumbnail_width: width, thumbnail_height: height } = told;
    expect([width, height]).toEqual(thumbnail ?? [undefined, undefined]);
    if (thumbnail === undefined) return expect(url).toBeUndefined();
    expect(await sharp(await bytesOf(await fetched(String(url)))).metadata()).toMatchObject({ width, height });
  });

  it("is on the landing page if the operator chose it, one per hour, with its smallest copy first, and whole without scripts", async () => {
    const shown = async () => {
      const text = await read("/");
      const [, note = ""] = /<div class="hero-note cluster">([\s\S]*?)<\/section>/.exec(text) ?? [];
      return { title: /<a [^>]*>([^<]*)</.exec(note)?.[1], text };
    };
    const other = await service.kept(ann, { prompt: "second", resolution: "4k" });
    const hidden = await service.kept(ann, { prompt: "no longer public", visibility: "private" });
    expect((await shown()).title).toBeUndefined(); // what others publish changes nothing
    service.heroPanoramas.push(task.slug, other.slug);
    const titles: (string | undefined)[] = [];
    for (let hour = 0; hour < 2; hour++) {
      const { title, text } = await shown();
      titles.push(title);
      const { slug, image } = title === "second" ? other : task;
      expect(text).toContain(`src="/p/${slug}/512.webp"`);
      expect(text).toContain(`<noscript><img class="hero-still" src="${service.storage.urlOf(image.imageName)}"`);
      expect(text).toContain('method="get" action="/signup"'); // which keeps the prompt
      await service.clock.advance(3_600_000);
    }
    expect(titles.sort()).toEqual(["a &quot;quoted&quot; place", "second"]);
    service.heroPanoramas.splice(0, 2, hidden.slug, other.slug);
    for (let hour = 0; hour < 2; hour++) {
      expect((await shown()).title).toBe("second");
      await service.clock.advance(3_600_000);
    }
    service.heroPanoramas.length = 0;
  });
});
