import { readdir } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { beforeEach, describe, expect, it } from "vitest";
import { type Abilities, ALL_ABILITIES } from "../../../../domain/tasks/abilities.js";
import { RawConnection } from "../../../support/raw-connection.js";
import { newMember, setUpService, visiting } from "../../../support/visit.js";

const TEXT_ONLY: Abilities = { imagesMin: 0, imagesMax: 0, promptCharactersMax: 4000 };
const ONE_IMAGE: Abilities = { imagesMin: 0, imagesMax: 1, promptCharactersMax: 1200 };
const NEEDS_IMAGES: Abilities = { imagesMin: 1, imagesMax: 3, promptCharactersMax: 4000 };
const URLS = ["https://images.example/1.jpg", "https://images.example/2.jpg", "https://images.example/3.jpg"];
const NOT_ACCEPTED =
  "The image generator did not accept the panorama. Try again later, or with other words. You weren’t charged.";

describe("the form of the works page", () => {
  const service = setUpService();
  let pictures = 0;
  let picture: Blob;

  beforeEach(async () => {
    pictures += 1; // a new one: equal files are stored once
    const background = { r: pictures, g: 128, b: 128 };
    const png = await sharp({ create: { width: 64, height: 32, channels: 3, background } })
      .png()
      .toBuffer();
    picture = new Blob([Uint8Array.from(png)], { type: "image/png" });
    service.provider.abilities = ALL_ABILITIES;
    service.provider.play({ poll: "succeeded", download: "image", submit: "accept" });
  });

  const newPerson = async (credits?: number) => {
    const member = await newMember(service, credits);
    const create = (fields: Record<string, string>, files: readonly Blob[] = [], urls: readonly string[] = []) =>
      member.create(
        [...Object.entries({ resolution: "1k", ...fields }), ...urls.map((url) => ["image_url", url] as const)],
        files,
      );
    const tasks = () => service.tasks.list(member.person.id, 9, undefined);
    return { ...member, create, tasks };
  };
  const stored = async () => (await readdir(join(service.folder, "objects", "references"))).length;
  /** Files that are being received, or were left behind. */
  const received = () => readdir(join(service.folder, "uploads"), { recursive: true });
  const found = (page: string, pattern: RegExp) => [...page.matchAll(pattern)].map(([, text]) => text);

  it.each([
    [ALL_ABILITIES, ["up to 3"], 3, ["0"], ["3"], "4,000"],
    [ONE_IMAGE, ["up to 1"], 1, ["0"], ["1"], "1,200"],
    [NEEDS_IMAGES, ["1 to 3"], 3, ["1"], ["3"], "4,000"],
    [TEXT_ONLY, [], 0, [], [], "4,000"],
  ])("has as many picture fields as %o allow", async (abilities, range, urls, min, max, characters) => {
    service.provider.abilities = abilities;
    const page = await (await newPerson()).read("/works");
    expect(found(page, /Reference images \(([^)]*)\)/g)).toEqual(range);
    expect(found(page, /(name="image_url")/g)).toHaveLength(urls);
    expect(found(page, /data-count-min="(\d)"/g)).toEqual(min);
    expect(found(page, /data-count-max="(\d)"/g)).toEqual(max);
    expect(found(page, /Up to ([\d,]+) characters/g)).toEqual([characters]);
    expect(found(page, /data-min="3" data-max="(\d+)"/g)).toEqual([characters.replace(",", "")]);
    expect(page.includes("Panoramas are made from words only here, without pictures.")).toBe(urls === 0);
    expect(page.includes('<details class="references" open><summary>Reference images')).toBe(min[0] === "1");
  });

  it.each<[Abilities, number, readonly string[], string]>([
    [TEXT_ONLY, 0, URLS.slice(0, 1), "Remove the pictures: panoramas are made from words only here."],
    [TEXT_ONLY, 1, [], "Remove the pictures: panoramas are made from words only here."],
    [ONE_IMAGE, 1, URLS.slice(0, 1), "Add at most 1 picture, a file or a URL."],
    [ONE_IMAGE, 2, [], "Add at most 1 picture, a file or a URL."],
    [ALL_ABILITIES, 1, URLS, "Add at most 3 pictures, files and URLs together."],
    [NEEDS_IMAGES, 0, [], "Add a picture: panoramas are made from pictures here."],
  ])(
    "refuses a form beyond %o with %i files and the URLs %j, and stores none",
    async (abilities, files, urls, error) => {
      service.provider.abilities = abilities;
      const { create, tasks } = await newPerson();
      const before = await stored();
      expect(await create({ prompt: "a lake" }, Array(files).fill(picture), urls)).toMatchObject({
        status: 400,
        error,
      });
      expect([await stored(), await tasks()]).toEqual([before, []]);
    },
  );

  it("creates panoramas within the abilities, from files before URLs", async () => {
    const { create, tasks } = await newPerson();
    service.provider.abilities = ONE_IMAGE;
    expect((await create({ prompt: "🌊".repeat(1200) }, [picture])).status).toBe(303);
    expect((await create({ prompt: "🌊".repeat(1201) }, [picture])).error).toContain("has 1,201.");
    service.provider.abilities = TEXT_ONLY;
    expect((await create({ prompt: "a lake" })).status).toBe(303);
    service.provider.abilities = NEEDS_IMAGES;
    expect((await create({}, [picture], URLS.slice(0, 2))).status).toBe(303);
    const urls = (await tasks()).map(({ request }) => request.imageUrls);
    const uploaded = expect.stringMatching(/^https:\/\/references\.example\/assets\/references\/[\w-]{22}\.png$/);
    expect(urls).toEqual([[uploaded, ...URLS.slice(0, 2)], [], [uploaded]]);
  });

  /** Sends the form up to the first bytes of its first file, and the rest never. */
  const sendWithoutEnd = async (cookie: string, fields: Record<string, string>) => {
    const { host, port } = new URL(service.url);
    const texts = Object.entries(fields).map(
      ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const connection = await RawConnection.open(Number(port));
    connection.send(
      `POST /works HTTP/1.1\r\nhost: ${host}\r\norigin: ${service.url}\r\ncookie: ${cookie}\r\n` +
        `content-type: multipart/form-data; boundary=b\r\ncontent-length: 9000000\r\n\r\n${texts.join("")}` +
        '--b\r\ncontent-disposition: form-data; name="files"; filename="a.jpg"\r\ncontent-type: image/jpeg\r\n\r\n',
    );
    connection.send(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(100_000)]));
    const answer = await connection.response();
    connection.close();
    return answer;
  };

  it.each<[string, number, Record<string, string>, number, string]>([
    ["without enough credits", 3, {}, 402, "This costs 4 credits, but you have 3."],
    ["with a long prompt", 100, { prompt: "x".repeat(4001) }, 400, "Prompt must have at most 4,000 characters"],
    ["with an unknown resolution", 100, { resolution: "8k" }, 400, "Resolution must be"],
    ["with the token of another session", 100, { form_token: "0".repeat(64) }, 403, "This page was open for too long."],
  ])("answers a form %s before it receives its files, and stores none", async (_, credits, fields, status, error) => {
    const { cookie, token } = await newPerson(credits);
    const before = await stored();
    const usual = { form_token: token, prompt: "a lake", resolution: "1k" };
    const answer = await sendWithoutEnd(cookie, { ...usual, ...fields });
    expect(answer.split(" ", 2)[1]).toBe(String(status));
    expect(answer).toContain(`role="alert">${error}`);
    expect([await stored(), await received()]).toEqual([before, []]);
  });

  it("keeps the words of a form whose session has ended, and opens them after the login", async () => {
    const sendAs = async (cookie: string, prompt: string) => {
      const form = new FormData();
      for (const [name, value] of Object.entries({ form_token: "x", prompt })) form.append(name, value);
      form.append("files", picture, "a.png");
      return (await visiting(service, cookie).post("/works", form)).location;
    };
    const before = await stored();
    const ended = "session=0123456789012345678901";
    expect(await sendAs(ended, "a lake & <sky>")).toBe("/login?prompt=a+lake+%26+%3Csky%3E&ended=1");
    expect(await sendAs("", "湖".repeat(2000))).toBe("/login?ended=1"); // too long for a URL
    expect(await stored()).toBe(before);
    const { read } = await newPerson();
    expect(await read("/works?prompt=a+lake+%26+%3Csky%3E")).toContain(">a lake &amp; &lt;sky&gt;</textarea>");
    expect(await read(`/works?prompt=${"y".repeat(4100)}`)).toContain(`>${"y".repeat(4000)}</textarea>`);
  });

  it("is shown again with its fields and a new token if it is of an earlier session, or refused", async () => {
    const { create, read, tasks } = await newPerson();
    const fields = { prompt: "a stale lake", resolution: "4k", seed: "7" };
    const stale = await create({ ...fields, form_token: "0".repeat(64) });
    expect([stale.status, stale.error]).toEqual([403, "This page was open for too long. Check and send again."]);
    const refused = await create({ ...fields, visibility: "secret" });
    expect([refused.status, refused.error]).toEqual([400, expect.stringContaining("Visibility must be")]);
    const fresh = /name="form_token" value="(\w+)"/.exec(await read("/works"))?.[1];
    for (const { text } of [stale, refused]) {
      const parts = [">a stale lake</textarea>", 'value="4k" checked', 'name="seed" value="7"', `value="${fresh}"`];
      for (const part of parts) expect(text).toContain(part);
    }
    expect(await tasks()).toEqual([]);
  });

  it("keeps the uploaded pictures of a refused form, which the next one sends", async () => {
    const { create, tasks } = await newPerson();
    service.provider.play({ submit: "refuse" });
    const refused = await create({ prompt: "a lake" }, [picture]);
    expect([refused.status, refused.error]).toEqual([502, NOT_ACCEPTED]);
    const [, url = ""] = /name="uploaded_url" value="([^"]+)" checked/.exec(refused.text) ?? [];
    service.provider.play({ submit: "accept" });
    expect((await create({ prompt: "a lake", uploaded_url: url })).status).toBe(303);
    expect((await tasks())[0]?.request.imageUrls).toEqual([url]);
  });

  it("opens with the request and every picture of a panorama of the member, and of no other", async () => {
    const { person, read } = await newPerson();
    const request = { prompt: "once more", resolution: "4k", visibility: "public", seed: 7, image_urls: URLS };
    const { slug } = await service.kept(person, request);
    service.provider.abilities = ONE_IMAGE;
    const page = await read(`/works?from=${slug}`);
    const parts = [">once more</textarea>", 'value="4k" checked', 'value="public" checked', 'name="seed" value="7"'];
    for (const part of parts) expect(page).toContain(part);
    expect(found(page, /name="image_url" value="([^"]*)"/g)).toEqual(URLS);
    expect(await (await newPerson()).read(`/works?from=${slug}`)).not.toContain("once more");
  });

  it("charges once if it is sent twice", async () => {
    const { create, read, tasks } = await newPerson();
    const [, key = ""] = /name="idempotency_key" value="([^"]+)"/.exec(await read("/works")) ?? [];
    const answers = await Promise.all([1, 2].map(() => create({ prompt: "sent twice", idempotency_key: key })));
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(await tasks()).toHaveLength(1);
  });
});
