import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ok } from "neverthrow";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aPendingOrder } from "../../../adapters/contracts/support/builders.js";
import { SqlOperatorStore } from "../../../adapters/persistence/stores/sql-operator-store.js";
import { deleteExpiredReferences } from "../../../application/background/erase.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import type { AdjustmentReason } from "../../../domain/credits/adjustment.js";
import { adjust } from "../../../domain/credits/funds.js";
import { referenceImageName } from "../../../domain/images/object-name.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { putTask } from "../../support/put-task.js";
import { RawConnection } from "../../support/raw-connection.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

/** A person's session: reads pages and sends forms as a browser does. */
const logIn = async (service: WebService, { email }: Person) => {
  const send = (path: string, init: RequestInit = {}) =>
    fetch(service.url + path, { redirect: "manual", ...init, headers: { origin: service.url, ...init.headers } });
  const login = await send("/login", { method: "POST", body: new URLSearchParams({ email, password: PASSWORD }) });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const get = async (path: string, note = "") =>
    (await send(path, { headers: { cookie: `${cookie}; ${note}` } })).text();
  const token = /name="form_token" value="(\w+)"/.exec(await get("/account"))?.[1] ?? "";
  const post = async (path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams({ form_token: token, ...fields });
    const answer = await send(path, { method: "POST", headers: { cookie }, body });
    const text = await answer.text();
    const note = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
    return { status: answer.status, error: errorOf(text), text, note };
  };
  /** Sends the form of the works page. `files`: sizes of files that begin like a JPEG. */
  const create = async (fields: Record<string, string>, files: readonly (number | Blob)[], formToken = token) => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ form_token: formToken, resolution: "1k", ...fields })) {
      body.append(name, value);
    }
    for (const file of files) body.append("files", typeof file === "number" ? jpegOf(file) : file, "a.jpg");
    const answer = await send("/works", { method: "POST", headers: { cookie }, body });
    const text = await answer.text();
    return { status: answer.status, error: errorOf(text), text };
  };
  /** Sends the form of the works page up to the first bytes of its first file, and the rest never. */
  const createWithoutEnd = async (fields: Record<string, string>) => {
    const { host, port } = new URL(service.url);
    const texts = Object.entries({ form_token: token, resolution: "1k", ...fields }).map(
      ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const connection = await RawConnection.open(Number(port));
    connection.send(
      `POST /works HTTP/1.1\r\nhost: ${host}\r\norigin: ${service.url}\r\ncookie: ${cookie}\r\n` +
        `content-type: multipart/form-data; boundary=b\r\ncontent-length: 9000000\r\n\r\n${texts.join("")}` +
        '--b\r\ncontent-disposition: form-data; name="files"; filename="a.jpg"\r\ncontent-type: image/jpeg\r\n\r\n',
    );
    connection.send(new Uint8Array(await jpegOf(100_000).arrayBuffer()));
    const answer = await connection.response();
    connection.close();
    return { status: Number(answer.split(" ", 2)[1]), error: errorOf(answer) };
  };
  return { get, post, create, createWithoutEnd };
};

/** The error above a form, or the sentence of a page with one sentence. */
const errorOf = (page: string): string | undefined =>
  /role="alert">([^<]*)</.exec(page)?.[1] ?? /<div class="message"><h1>[^<]*<\/h1><p>([^<]*)</.exec(page)?.[1];

const jpegOf = (sizeBytes: number): Blob => {
  const bytes = new Uint8Array(sizeBytes);
  bytes.set([0xff, 0xd8, 0xff]);
  return new Blob([bytes], { type: "image/jpeg" });
};

describe("pages with the longest prompts", () => {
  let service: WebService;
  let ann: Person;
  const slugs: string[] = [];

  beforeAll(async () => {
    service = await WebService.start();
    ann = await service.person("ann");
    const task = await service.kept(ann);
    for (let n = 0; n < 12; n += 1) {
      const request = { ...task.request, prompt: `${n} ${"🌊".repeat(3_997)}` } as CreationRequest;
      const copy = { ...task, id: service.ids.taskId(), slug: service.ids.slug(), request };
      await putTask(service.database, copy);
      slugs.push(copy.slug);
      service.heroPanoramas.push(copy.slug);
    }
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });

  it.each([
    ["/", /<a [^>]*>\d+ (🌊){77,78}…<\/a>/u],
    ["/gallery", /<span class="tile-title" dir="auto">11 (🌊){77}…<\/span>/u],
  ])("%s stays small and shows the first 80 characters of each", async (path, title) => {
    const page = await (await fetch(`${service.url}${path}`)).text();
    expect(page.length).toBeLessThan(30_000);
    expect(page).toMatch(title);
  });

  it("the viewer shows the first 80 characters, and on demand all of them", async () => {
    const page = await (await fetch(`${service.url}/p/${slugs[0]}`)).text();
    expect(page.length).toBeLessThan(20_000);
    const title = `0 ${"🌊".repeat(78)}…`;
    expect(page).toContain(`<meta property="og:title" content="${title}">`);
    expect(page).toContain(`<h1 dir="auto">${title}</h1>`);
    expect(page).toContain(`<p dir="auto">0 ${"🌊".repeat(3_997)}</p>`);
    expect(page).not.toContain("Use this prompt"); // it does not fit into an address
    expect(page).toContain(`<title>${title} · Panorama</title>`);
  });
});

describe("the account page", () => {
  let service: WebService;
  let people = 0;

  beforeAll(async () => {
    service = await WebService.start();
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });
  const newPerson = async () => {
    people += 1;
    const person = await service.person(`person-${people}`);
    return { person, ...(await logIn(service, person)) };
  };

  it("refuses the eleventh pending order of 24 hours, until one is paid or a day has passed", async () => {
    const { person, post } = await newPerson();
    const order = async () => {
      await service.clock.advance(60_000);
      const { status, error } = await post("/account/orders", { credits: "100" });
      return [status, error];
    };
    for (let n = 0; n < 10; n += 1) expect(await order()).toEqual([303, undefined]);
    const sentence =
      "You have 10 orders of the last 24 hours that are not paid, the maximum. Pay one of them, or order again later.";
    expect(await order()).toEqual([409, sentence]);
    await service.payEveryOrder();
    expect(await order()).toEqual([303, undefined]);
    expect(await service.orders.countPaid(person.id)).toBe(11);
    for (let n = 0; n < 9; n += 1) expect(await order()).toEqual([303, undefined]);
    expect(await order()).toEqual([409, sentence]);
    await service.clock.advance(24 * 60 * 60 * 1000);
    expect(await order()).toEqual([303, undefined]);
  });

  it("refuses the 21st live key, until one is revoked", async () => {
    const { person, post } = await newPerson();
    const create = async () => {
      await service.clock.advance(60_000);
      return post("/account/keys", { name: "k" });
    };
    for (let n = 2; n <= 20; n += 1) expect((await create()).status).toBe(303);
    expect(await create()).toMatchObject({
      status: 409,
      error: "You already have 20 API keys, the maximum. Revoke one before you create another.",
    });
    const [newest] = await service.keys.listLive(person.id);
    expect((await post(`/account/keys/${newest?.id}/revoke`, {})).status).toBe(303);
    expect((await create()).status).toBe(303);
  });

  const request = (path: string, secret: string, init: RequestInit = {}) =>
    fetch(`${service.url}/api/v1${path}`, { ...init, headers: { authorization: `Bearer ${secret}` } });
  const create = (secret: string) =>
    request("/panoramas", secret, { method: "POST", body: JSON.stringify({ resolution: "1k", prompt: "a lake" }) });
  /** The text of the line of a key. */
  const keyLine = (page: string, name: string): string =>
    new RegExp(`<li><span><strong>${name}</strong>.*?</li>`, "s").exec(page)?.[0].replace(/<[^>]*>/g, " ") ?? "";

  it("creates a key with limits, which it shows with the last use and the spending", async () => {
    const { post, get } = await newPerson();
    const fields = {
      name: "robot",
      limits: "1",
      scope: "create",
      expires_at: "2030-01-31T10:30",
      credits_per_day: "10",
      credits_per_month: "100",
    };
    const { status, note } = await post("/account/keys", fields);
    expect(status).toBe(303);
    const text = await get("/account/keys", note);
    const secret = /id="secret">(sk-[\w-]+)</.exec(text)?.[1] ?? "";
    expect(keyLine(text, "robot")).toContain("never used");
    expect([(await create(secret)).status, (await create(secret)).status]).toEqual([202, 202]);
    expect((await create(secret)).status).toBe(402);
    expect((await request("/credits", secret)).status).toBe(401);
    await service.keyUses.flush();
    const line = keyLine(await get("/account/keys"), "robot");
    expect(line).toMatch(/last used .*, \d\d:\d\d UTC/);
    expect(line).toContain("spent 8 of 10 credits today, 8 of 100 this month");
    expect(line).toContain("may only create and upload");
    expect(line).toContain("expires  31 Jan 2030, 10:30 UTC");
    const first = keyLine(await get("/account/keys"), "first");
    expect(first).toContain("spent 0 credits today, 0 this month");
    expect(first).not.toContain("may only");
  });

  it("shows a new key once, to its session only, and makes no other when the page is reloaded", async () => {
    const { person, post, get } = await newPerson();
    const stranger = await newPerson();
    const { note } = await post("/account/keys", { name: "my <b>laptop" });
    expect(note).toMatch(/^note=[\w-]+\.[\w-]+$/);
    expect(await stranger.get("/account/keys", note)).not.toContain("Your new key");
    expect(await get("/account/keys", note.replace(/=../, "=xx"))).not.toContain("Your new key");
    expect(await get("/account/keys", note)).toContain("Your new key “my &lt;b&gt;laptop”");
    expect(await get("/account/keys")).not.toContain("Your new key"); // the browser has deleted the cookie
    expect(await service.keys.listLive(person.id)).toHaveLength(2);
  });

  it("keeps the fields of a form from an earlier session or of a refused key", async () => {
    const { person, post, get } = await newPerson();
    const fields = { name: "robot", limits: "1", scope: "read", credits_per_day: "7" };
    const stale = await post("/account/keys", { ...fields, form_token: "0".repeat(64) });
    expect([stale.status, stale.error]).toEqual([403, "This page was open for too long. Check and send again."]);
    const refused = await post("/account/keys", { ...fields, credits_per_month: "x" });
    for (const { text } of [stale, refused]) {
      expect(text).toContain('name="name" value="robot"');
      expect(text).toContain('name="credits_per_day" inputmode="numeric" value="7"');
      expect(text).toContain('value="read" checked> read');
      expect(text).toContain('value="create"> create and upload');
    }
    expect(await service.keys.listLive(person.id)).toHaveLength(1);
    expect(await get("/account/keys")).toContain("This can’t be undone.");
  });

  it("shows the error of a form with too much text", async () => {
    const { person, post } = await newPerson();
    const answers = [
      await post("/account/keys", { name: "x".repeat(600_000) }),
      await post("/login", { email: "x".repeat(600_000) }),
    ];
    const error =
      "Its texts have more than 512 kB, so nothing was saved. Go back, shorten them, and send the form again.";
    for (const answer of answers) expect(answer).toMatchObject({ status: 413, error });
    expect(await service.keys.listLive(person.id)).toHaveLength(1);
  });

  it("writes activity in words, with time and a link to the panorama", async () => {
    const { person, post, get } = await newPerson();
    const task = await service.kept(person, { prompt: "a lake", resolution: "2k" });
    service.provider.play({ poll: "failed" });
    const failed = await service.panorama(person, { prompt: "a cave", resolution: "1k" });
    service.provider.play({ poll: "succeeded" });
    const rows = async () => {
      const page = await get("/account");
      const section = /<h2 id="ledger">Activity.*?<\/section>/s.exec(page)?.[0] ?? "";
      return [...section.matchAll(/<tr><td>(.*?)<\/tr>/gs)].map(([, row = ""]) => row);
    };
    const text = (row = "") => row.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    const [refund, reservation, first] = await rows();
    expect(text(refund)).toMatch(/^ \d+ \w+ \d{4}, \d\d:\d\d UTC 1k panorama , refunded a cave \+4 94 $/);
    expect(text(reservation)).toContain("UTC 1k panorama a cave −4");
    expect(text(first)).toContain("UTC 2k panorama a lake −6");
    expect(first).toContain(`<a href="/works/${task.slug}">2k panorama</a>`);
    expect((await post(`/works/${failed.id}/delete`, {})).status).toBe(303);
    expect(text((await rows())[0])).toContain("UTC Panorama, deleted, refunded +4");
  });

  it("shows an expired key as expired, and creates a key without limits from the name alone", async () => {
    const { person, post, get } = await newPerson();
    const soon = new Date(service.clock.now().getTime() + 60_000).toISOString().slice(0, 19);
    expect((await post("/account/keys", { name: "brief", expires_at: soon })).status).toBe(303);
    await service.clock.advance(60_000);
    expect(keyLine(await get("/account/keys"), "brief")).toMatch(/expired .* UTC/);
    expect((await post("/account/keys", { name: "plain" })).status).toBe(303);
    expect((await service.keys.listLive(person.id))[0]?.limits).toEqual(NO_LIMITS);
  });

  it.each([
    [{ limits: "1" }, "Choose what the key may do."],
    [{ limits: "1", scope: "root" }, "Choose what the key may do."],
    [{ expires_at: "2001-01-01" }, "Expiry of the key must be in the future."],
    [{ credits_per_day: "0" }, "Credits per day must be a whole number from 1 to 1,000,000,000."],
    [{ credits_per_month: "x" }, "Credits per month must be a whole number from 1 to 1,000,000,000."],
  ])("refuses a key with %j", async (fields, sentence) => {
    const { person, post } = await newPerson();
    const refused = await post("/account/keys", { name: "k", ...(fields as Record<string, string>) });
    expect(refused.status).toBe(400);
    expect(refused.error).toContain(sentence);
    expect(await service.keys.list(person.id)).toHaveLength(1);
  });

  it("sets and removes the low-balance threshold, and shows reserved and spent credits", async () => {
    const { person, post, get } = await newPerson();
    expect((await create(person.key)).status).toBe(202);
    await service.work();
    expect((await create(person.key)).status).toBe(202);
    expect(await get("/account")).toContain("4 reserved for panoramas that are being made, 4 spent so far.");
    expect((await post("/account/low-balance", { credits: " 50 " })).status).toBe(303);
    expect(await service.accounts.lowBalance(person.id)).toBe(50);
    expect(await get("/account")).toContain('name="credits" inputmode="numeric" value="50"');
    const refused = await post("/account/low-balance", { credits: "-1" });
    expect([refused.status, refused.error]).toEqual([400, expect.stringContaining("must be a whole number from 1 to")]);
    expect(refused.text).toContain('name="credits" inputmode="numeric" value="-1"');
    expect(await service.accounts.lowBalance(person.id)).toBe(50);
    expect((await post("/account/low-balance", { credits: "" })).status).toBe(303);
    expect(await service.accounts.lowBalance(person.id)).toBeUndefined();
  });

  it("shows 20 orders and 20 ledger entries at a time, newest first", async () => {
    const { person, get } = await newPerson();
    const ids: string[] = [];
    for (let n = 0; n < 44; n += 1) {
      const order = aPendingOrder({ id: service.ids.orderId(), accountId: person.id });
      await service.orders.insert(order);
      ids.unshift(order.id);
    }
    await service.payEveryOrder(); // in the order of their ids
    /** Follows the links of one list to its end. */
    const walk = async (list: "orders" | "ledger"): Promise<string[]> => {
      const seen: string[] = [];
      for (let url: string | undefined = "/account"; url !== undefined; ) {
        const page: string = await get(url);
        const section = new RegExp(`<h2 id="${list}">.*?</section>`, "s").exec(page)?.[0] ?? "";
        const shown = [...section.matchAll(/"\/account\/orders\/(\w+)"/g)].map(([, id]) => id ?? "");
        expect(shown.length).toBeLessThanOrEqual(20);
        seen.push(...shown);
        url = /rel="next" href="(\/account\?[^"#]*)#/.exec(section)?.[1]?.replaceAll("&amp;", "&");
      }
      return seen;
    };
    const opening = (await service.orders.list(person.id, 99, undefined)).at(-1)?.id;
    expect(await walk("orders")).toEqual([...ids, opening]);
    expect(await walk("ledger")).toEqual([...ids, opening]);
    const both = await get(`/account?orders=${ids[19]}&ledger=21`);
    expect(both).toMatch(/href="\/account\?orders=[\w-]+&amp;ledger=21#orders"/);
  });

  it("shows an adjustment by the operator with its reason", async () => {
    const { person, get } = await newPerson();
    const reason = "For <the> outage" as AdjustmentReason;
    const operators = new SqlOperatorStore(service.database);
    await operators.adjust(person.id, (funds) =>
      adjust({ accountId: person.id, funds, change: 7, reason, at: service.clock.now() }),
    );
    expect(await get("/account")).toMatch(/<td>For &lt;the&gt; outage<\/td>\s*<td class="number">\+7<\/td>/);
  });
});

describe("the form of the works page", () => {
  let service: WebService;
  let people = 0;
  let picture: Blob;

  beforeAll(async () => {
    service = await WebService.start();
    const canvas = sharp({ create: { width: 64, height: 32, channels: 3, background: "teal" } });
    picture = new Blob([Uint8Array.from(await canvas.png().toBuffer())], { type: "image/png" });
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });
  const newPerson = async (credits?: number) => {
    people += 1;
    const person = await service.person(`artist-${people}`, credits);
    return { person, ...(await logIn(service, person)) };
  };
  const stored = async () => (await readdir(join(service.folder, "objects", "references"))).length;
  /** Files that are being received, or were left behind. */
  const received = () => readdir(join(service.folder, "uploads"), { recursive: true });

  it.each<[string, number, Record<string, string>, number, string]>([
    ["without enough credits", 3, { prompt: "a lake" }, 402, "This costs 4 credits, but you have 3."],
    [
      "with a prompt that is too long",
      100,
      { prompt: "x".repeat(4001) },
      400,
      "Prompt must have at most 4,000 characters",
    ],
    ["with an unknown resolution", 100, { resolution: "8k" }, 400, "Resolution must be"],
  ])("answers a form %s before it receives its files, and stores none", async (_, credits, fields, status, error) => {
    const { createWithoutEnd } = await newPerson(credits);
    const before = await stored();
    const answer = await createWithoutEnd(fields);
    expect([answer.status, answer.error]).toEqual([status, expect.stringContaining(error)]);
    expect(await stored()).toBe(before);
    expect(await received()).toEqual([]);
  });

  it("stores no file of a form with the token of another session", async () => {
    const { create } = await newPerson();
    const before = await stored();
    expect((await create({ prompt: "a lake" }, [picture], "0".repeat(64))).status).toBe(403);
    expect(await stored()).toBe(before);
  });

  it("stores the files of a panorama that is created, and deletes them with it", async () => {
    const { person, create, post } = await newPerson();
    const before = await stored();
    expect((await create({ prompt: "a lake" }, [picture])).status).toBe(303);
    expect(await stored()).toBe(before + 1);
    await service.work();
    const [task] = await service.tasks.list(person.id, 9, undefined);
    const url = task?.request.imageUrls[0] ?? "";
    expect((await service.storage.read(service.storage.nameOf(url)!)).isOk()).toBe(true);
    const deleteExpired = deleteExpiredReferences(service, {
      retentionMilliseconds: 24 * 60 * 60 * 1000,
      leaseMilliseconds: 60_000,
    });
    await service.clock.advance(48 * 60 * 60 * 1000);
    expect(await deleteExpired()).toBe(0);
    expect((await post(`/works/${task?.id}/delete`, {})).status).toBe(303);
    expect(await deleteExpired()).toBe(1);
    expect(await stored()).toBe(before);
  });

  it("refuses files while the account has 200 MiB of unused images, but creates a panorama without files", async () => {
    const { person, create } = await newPerson();
    const name = referenceImageName("u".repeat(22), "image/png");
    const full = { content: "full", countedBytes: 200 * 1024 * 1024, name };
    await service.references.add(person.id, [full], service.clock.now(), () => ok(undefined));
    const refused = await create({ prompt: "a lake" }, [picture]);
    expect([refused.status, refused.error]).toEqual([
      400,
      expect.stringContaining("Images must stay below 200 MiB of images that no panorama of the account uses"),
    ]);
    expect((await create({ prompt: "a lake" }, [])).status).toBe(303);
    expect((await create({ prompt: "a lake" }, [new Blob([], { type: "application/octet-stream" })])).status).toBe(303);
  });

  it("keeps the words of a form whose session has ended, and opens them after the login", async () => {
    const send = async (prompt: string, cookie: string) => {
      const body = new FormData();
      for (const [name, value] of Object.entries({ form_token: "x", prompt })) body.append(name, value);
      body.append("files", picture, "a.png");
      const headers = { origin: service.url, cookie };
      const answer = await fetch(`${service.url}/works`, { method: "POST", redirect: "manual", headers, body });
      return [answer.status, answer.headers.get("location")];
    };
    const before = await stored();
    expect(await send("a lake & <sky>", "session=0123456789012345678901")).toEqual([
      303,
      "/login?prompt=a+lake+%26+%3Csky%3E&ended=1",
    ]);
    expect(await send("湖".repeat(2000), "")).toEqual([303, "/login?ended=1"]); // too long for a URL
    expect(await stored()).toBe(before);
    const { get } = await newPerson();
    expect(await get("/works?prompt=a+lake+%26+%3Csky%3E")).toContain(">a lake &amp; &lt;sky&gt;</textarea>");
    expect(await get(`/works?prompt=${"y".repeat(4100)}`)).toContain(`>${"y".repeat(4000)}</textarea>`);
  });

  it("shows the form of an earlier session again with its fields and a new token", async () => {
    const { person, create, get } = await newPerson();
    const fields = { prompt: "a stale lake", resolution: "4k", seed: "7" };
    const { status, error, text } = await create(fields, [], "0".repeat(64));
    expect([status, error]).toEqual([403, "This page was open for too long. Check and send again."]);
    expect(text).toContain(">a stale lake</textarea>");
    expect(text).toContain('value="4k" checked');
    expect(text).toContain('name="seed" value="7"');
    const fresh = /name="form_token" value="(\w+)"/.exec(await get("/works"))?.[1];
    expect(text).toContain(`name="form_token" value="${fresh}"`);
    expect(await service.tasks.list(person.id, 9, undefined)).toEqual([]);
  });

  it("keeps the uploaded pictures of a refused form, which the next one sends", async () => {
    const { person, create } = await newPerson();
    service.provider.play({ submit: "refuse" });
    const refused = await create({ prompt: "a lake" }, [picture]);
    expect([refused.status, refused.error]).toEqual([
      502,
      "The image generator did not accept the panorama. Try again later, or with other words. You weren’t charged.",
    ]);
    const [, url = ""] = /name="uploaded_url" value="([^"]+)" checked/.exec(refused.text) ?? [];
    service.provider.play({ submit: "accept" });
    expect((await create({ prompt: "a lake", uploaded_url: url }, [])).status).toBe(303);
    const [task] = await service.tasks.list(person.id, 9, undefined);
    expect(task?.request.imageUrls).toEqual([url]);
  });

  it("opens with the request of a panorama of the member, and of no other", async () => {
    const { person, get } = await newPerson();
    const other = await newPerson();
    const image = "https://images.example/a.jpg";
    const { slug } = await service.kept(person, {
      prompt: "once more",
      resolution: "4k",
      visibility: "public",
      seed: 7,
      image_urls: [image],
    });
    const page = await get(`/works?from=${slug}`);
    for (const part of [
      ">once more</textarea>",
      'value="4k" checked',
      'value="public" checked',
      'name="seed" value="7"',
    ])
      expect(page).toContain(part);
    expect(page).toContain(`name="image_url" value="${image}"`);
    expect(await other.get(`/works?from=${slug}`)).not.toContain("once more");
  });

  it("reports a deleted uploaded image, and charges nothing", async () => {
    const { person, create } = await newPerson();
    const url = service.storage.urlOf(referenceImageName("d".repeat(22), "image/png"));
    const refused = await create({ prompt: "a lake", image_url: url }, []);
    expect([refused.status, refused.error]).toEqual([
      400,
      "Image 1 does not exist in this service: it was deleted, has expired, or was never there; upload the image again and use its new URL.",
    ]);
    expect(await service.ledger.balance(person.id)).toBe(100);
  });
});
