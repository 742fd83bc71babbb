import { readdir } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Abilities, ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

const TEXT_ONLY: Abilities = { imagesMin: 0, imagesMax: 0, promptCharactersMax: 4000 };
const ONE_IMAGE: Abilities = { imagesMin: 0, imagesMax: 1, promptCharactersMax: 1200 };
const NEEDS_IMAGES: Abilities = { imagesMin: 1, imagesMax: 3, promptCharactersMax: 4000 };

const URLS = ["https://images.example/1.jpg", "https://images.example/2.jpg", "https://images.example/3.jpg"];

describe("the pages of an installation", () => {
  let service: WebService;
  let people = 0;
  let ann: Person;
  let cookie: string;
  let picture: Uint8Array<ArrayBuffer>;

  beforeAll(async () => {
    service = await WebService.start();
    const canvas = sharp({ create: { width: 64, height: 32, channels: 3, background: "teal" } });
    picture = Uint8Array.from(await canvas.png().toBuffer());
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });
  beforeEach(async () => {
    service.provider.abilities = ALL_ABILITIES;
    people += 1;
    ann = await service.person(`visitor-${people}`);
    const body = new URLSearchParams({ email: ann.email, password: PASSWORD });
    const login = await send("/login", { method: "POST", body });
    cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  });

  const send = (path: string, init: RequestInit = {}) =>
    fetch(service.url + path, { redirect: "manual", ...init, headers: { origin: service.url, ...init.headers } });
  const read = async (path: string) => (await send(path, { headers: { cookie } })).text();
  const found = (page: string, pattern: RegExp) => [...page.matchAll(pattern)].map(([, text]) => text);

  /** Sends the form of the works page, and returns the error above it. */
  const create = async (fields: readonly (readonly [string, string])[], files = 0) => {
    const body = new FormData();
    body.append("form_token", found(await read("/works"), /name="form_token" value="(\w+)"/g)[0] ?? "");
    body.append("resolution", "1k");
    for (const [name, value] of fields) body.append(name, value);
    for (let n = 0; n < files; n += 1) {
      body.append("files", new Blob([picture], { type: "image/png" }), `${n}.png`);
    }
    const answer = await send("/works", { method: "POST", headers: { cookie }, body });
    return { status: answer.status, error: found(await answer.text(), /role="alert">([^<]*)</g)[0] };
  };
  const stored = async () => (await readdir(join(service.folder, "objects", "references")).catch(() => [])).length;

  it.each([
    [ALL_ABILITIES, ["up to 3"], 3, ["0"], ["3"], "4,000"],
    [ONE_IMAGE, ["up to 1"], 1, ["0"], ["1"], "1,200"],
    [NEEDS_IMAGES, ["1 to 3"], 3, ["1"], ["3"], "4,000"],
    [TEXT_ONLY, [], 0, [], [], "4,000"],
  ])(
    "offer as many picture fields as the abilities allow: %o",
    async (abilities, range, urls, min, max, characters) => {
      service.provider.abilities = abilities;
      const page = await read("/works");
      expect(found(page, /Pictures to start from \(([^)]*)\)/g)).toEqual(range);
      expect(found(page, /(name="image_url")/g)).toHaveLength(urls);
      expect(found(page, /data-count-min="(\d)"/g)).toEqual(min);
      expect(found(page, /data-count-max="(\d)"/g)).toEqual(max);
      expect(found(page, /Up to ([\d,]+) characters/g)).toEqual([characters]);
      expect(found(page, /data-min="3" data-max="(\d+)"/g)).toEqual([characters.replace(",", "")]);
      expect(page.includes("Panoramas are made from words only here, without pictures.")).toBe(urls === 0);
      expect(page.includes('<details class="references" open><summary>Pictures')).toBe(min[0] === "1");
    },
  );

  it.each([
    [TEXT_ONLY, [["image_url", URLS[0]]], 0, "Remove the pictures: panoramas are made from words only here."],
    [TEXT_ONLY, [], 1, "Remove the pictures: panoramas are made from words only here."],
    [ONE_IMAGE, [["image_url", URLS[0]]], 1, "Add at most 1 picture, a file or a URL."],
    [ONE_IMAGE, [], 2, "Add at most 1 picture, a file or a URL."],
    [ALL_ABILITIES, URLS.map((url) => ["image_url", url]), 1, "Add at most 3 pictures, files and URLs together."],
    [NEEDS_IMAGES, [], 0, "Add a picture: panoramas are made from pictures here."],
  ] as const)("refuse a form beyond %o with 400, and store no file", async (abilities, fields, files, error) => {
    service.provider.abilities = abilities;
    const before = await stored();
    const filled = fields.map(([name = "", value = ""]) => [name, value] as const);
    expect(await create([["prompt", "a lake"], ...filled], files)).toEqual({ status: 400, error });
    expect(await stored()).toBe(before);
    expect(await service.tasks.list(ann.id, 1, undefined)).toEqual([]);
  });

  it("refuse a prompt beyond the longest one before they store its file", async () => {
    service.provider.abilities = ONE_IMAGE;
    const before = await stored();
    const refused = await create([["prompt", "🌊".repeat(1201)]], 1);
    expect(refused).toEqual({ status: 400, error: "Prompt must have at most 1,200 characters, but has 1,201." });
    expect(await stored()).toBe(before);
  });

  it("create panoramas within the abilities", async () => {
    service.provider.abilities = ONE_IMAGE;
    const fields = [["prompt", "🌊".repeat(1200)]] as const;
    const before = await stored();
    expect((await create(fields, 1)).status).toBe(303);
    expect(await stored()).toBe(before + 1);
    service.provider.abilities = TEXT_ONLY;
    expect((await create(fields)).status).toBe(303);
    service.provider.abilities = NEEDS_IMAGES;
    expect((await create([["image_url", URLS[0] ?? ""]])).status).toBe(303);
    const tasks = await service.tasks.list(ann.id, 3, undefined);
    expect(tasks.map(({ request }) => request.imageUrls.length)).toEqual([1, 0, 1]);
  });

  it("show every picture of a panorama that is made again", async () => {
    const { slug } = await service.kept(ann, { image_urls: URLS });
    service.provider.abilities = ONE_IMAGE;
    const page = await read(`/works?from=${slug}`);
    expect(found(page, /name="image_url" value="([^"]*)"/g)).toEqual(URLS);
  });

  it.each([
    [ALL_ABILITIES, "takes up to 3 reference images", "can follow up to 3 pictures, with or", "3", "4000"],
    [ONE_IMAGE, "takes up to 1 reference image", "can follow up to 1 picture, with or", "1", "1200"],
    [NEEDS_IMAGES, "needs 1 to 3 reference images", "follows 1 to 3 pictures, with or", "1 to 3", "4000"],
    [TEXT_ONLY, "takes no reference images", "takes no pictures: it makes panoramas from a prompt only", "0", "4000"],
  ])("describe the abilities in /docs: %o", async (abilities, images, guide, count, characters) => {
    service.provider.abilities = abilities;
    for (const page of [await read("/docs"), await (await send("/docs")).text()]) {
      expect(page).toContain(`<p>This installation ${images}. A prompt has at most ${characters} characters.</p>`);
      expect(page).toContain(guide);
      expect(found(page, /<td>pictures of one panorama<\/td>\s*<td>([^<]*)<\/td>/g)).toEqual([count]);
      expect(found(page, /<td>prompt<\/td>\s*<td>([^<]*)<\/td>/g)).toEqual([`${characters} characters`]);
      expect(found(page, /(\/api\/v1\/abilities)/g).length).toBeGreaterThan(0);
    }
  });

  it.each([
    [ALL_ABILITIES, "A sentence is enough. Add up to three pictures of your own if you like."],
    [ONE_IMAGE, "A sentence is enough. Add one picture of your own if you like."],
    [NEEDS_IMAGES, "Add up to three pictures of your own, and a sentence if you like."],
    [TEXT_ONLY, "A sentence is enough."],
  ])("describe the abilities on the landing page: %o", async (abilities, sentence) => {
    service.provider.abilities = abilities;
    const page = await (await send("/")).text();
    expect(page).toContain(`<p>${sentence}</p>`);
    expect(page.includes("or from your own images")).toBe(abilities !== TEXT_ONLY);
  });
});
