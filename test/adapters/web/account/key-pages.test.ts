import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { NO_LIMITS } from "../../../../domain/accounts/key-limits.js";
import { newMember, setUpService, visiting } from "../../../support/visit.js";

describe("the page of API keys", () => {
  const service = setUpService();
  const newPerson = async () => {
    const member = await newMember(service);
    return { ...member, create: (fields: Record<string, string>) => member.post("/account/keys", fields) };
  };
  /** With the note that the browser has got. */
  const readWith = async (note: string, cookie: string) =>
    (await visiting(service, `${cookie}; ${note}`).get("/account/keys")).text;
  const request = (path: string, secret: string, init: RequestInit = {}) =>
    fetch(`${service.url}/api/v1${path}`, { ...init, headers: { authorization: `Bearer ${secret}` } });
  const panorama = async (secret: string) => {
    const body = JSON.stringify({ resolution: "1k", prompt: "a lake" });
    return (await request("/panoramas", secret, { method: "POST", body })).status;
  };
  /** The text of the line of a key. */
  const keyLine = (page: string, name: string): string =>
    new RegExp(`<li class="cluster"><span><strong>${name}</strong>.*?</li>`, "s")
      .exec(page)?.[0]
      .replace(/<[^>]*>/g, " ") ?? "";

  it("creates a key with limits, which it shows with the last use and the spending, and revokes it", async () => {
    const { person, cookie, create, read, post } = await newPerson();
    const key = await create({
      ...{ name: "robot", limits: "1", scope: "create", expires_at: "2030-01-31T10:30" },
      ...{ credits_per_day: "10", credits_per_month: "100" },
    });
    expect(key.status).toBe(303);
    const text = await readWith(key.cookie, cookie);
    const secret = /id="secret">(sk-[\w-]{43})</.exec(text)?.[1] ?? "";
    expect(keyLine(text, "robot")).toContain("never used");
    expect([await panorama(secret), await panorama(secret), await panorama(secret)]).toEqual([202, 202, 402]);
    expect((await request("/credits", secret)).status).toBe(401);
    await service.keyUses.flush();
    const page = await read("/account/keys");
    const line = keyLine(page, "robot");
    expect(line).toMatch(/last used .*, \d\d:\d\d UTC/);
    expect(line).toContain("spent 8 of 10 credits today, 8 of 100 this month");
    expect(line).toContain("may only create and upload");
    expect(line).toContain("expires  31 Jan 2030, 10:30 UTC");
    expect(page).toContain("This can’t be undone.");
    for (const place of ['"true">Account<', '"page">Keys and usage<']) expect(page).toContain(`aria-current=${place}`);
    const first = keyLine(page, "first");
    expect(first).toContain("spent 0 credits today, 0 this month");
    expect(first).not.toContain("may only");
    const [newest] = await service.keys.listLive(person.id);
    expect((await post(`/account/keys/${newest?.id}/revoke`)).status).toBe(303);
    expect(keyLine(await read("/account/keys"), "robot")).toBe("");
    expect(await panorama(secret)).toBe(401);
  });

  it("shows a new key once, to its session only, and makes no other when the page is reloaded", async () => {
    const { person, cookie, create, read } = await newPerson();
    const stranger = await newPerson();
    const { cookie: note } = await create({ name: "my <b>laptop" });
    expect(note).toMatch(/^note=[\w-]+\.[\w-]+$/);
    expect(await readWith(note, stranger.cookie)).not.toContain("Your new key");
    expect(await readWith(note.replace(/=../, "=xx"), cookie)).not.toContain("Your new key");
    expect(await readWith(note, cookie)).toContain("Your new key “my &lt;b&gt;laptop”");
    expect(await read("/account/keys")).not.toContain("Your new key"); // the browser has deleted the cookie
    expect(await service.keys.listLive(person.id)).toHaveLength(2);
  });

  it("leaves a note of another page, a forged one and one of an earlier version in the browser", async () => {
    const { cookie, token, create, post } = await newPerson();
    await post("/account/webhooks", { url: "https://receiver.test/" });
    const [, endpoint] = /\/account\/webhooks\/([\w-]+)\/test/.exec(
      await visiting(service, cookie)
        .get("/account/webhooks")
        .then(({ text }) => text),
    ) ?? ["", ""];
    const { cookie: test } = await post(`/account/webhooks/${endpoint}/test`);
    const { cookie: key } = await create({ name: "laptop" });
    const content = Buffer.from('["laptop","sk-1"]').toString("base64url");
    const earlier = createHmac("sha256", token).update(`note ${content}`).digest("base64url");
    const given = async (path: string, note: string) => {
      const answer = await visiting(service, `${cookie}; ${note}`).get(path);
      return [answer.status, answer.headers.has("set-cookie"), /id="secret">|The test event has/.test(answer.text)];
    };
    const ignored = [200, false, false];
    expect(test).toMatch(/^note=[\w-]+\.[\w-]+$/);
    expect(await given("/account/keys", test)).toEqual(ignored);
    expect(await given("/account/webhooks", key)).toEqual(ignored);
    for (const note of [`note=${content}.${earlier}`, `note=${content}.${"é".repeat(43)}`, "note=.", "note="])
      for (const path of ["/account/keys", "/account/webhooks"]) expect(await given(path, note)).toEqual(ignored);
    expect(await given("/account/keys", key)).toEqual([200, true, true]);
    expect(await given("/account/webhooks", test)).toEqual([200, true, true]);
  });

  it("refuses the 21st live key, and any without a paid order", async () => {
    const { create } = await newPerson();
    for (let n = 2; n <= 20; n += 1) {
      await service.clock.advance(60_000);
      expect((await create({ name: "k" })).status).toBe(303);
    }
    const error = "You already have 20 API keys, the maximum. Revoke one before you create another.";
    expect(await create({ name: "k" })).toMatchObject({ status: 409, error });
    const poor = await newPerson();
    await service.database.sql("update credit_order set paid_at = null");
    const page = await poor.read("/account/keys");
    expect(page).toContain('You can create API keys after your first order is paid. <a href="/account#buy">');
    expect(page).not.toContain("Create key");
    const refused = await poor.create({ name: "k" });
    expect([refused.status, refused.error]).toEqual([409, expect.stringContaining("at least one paid order")]);
  });

  it("keeps the fields of a form from an earlier session or of a refused key", async () => {
    const { person, create } = await newPerson();
    const fields = { name: "robot", limits: "1", scope: "read", credits_per_day: "7" };
    const stale = await create({ ...fields, form_token: "0".repeat(64) });
    expect([stale.status, stale.error]).toEqual([403, "This page was open for too long. Check and send again."]);
    for (const { text } of [stale, await create({ ...fields, credits_per_month: "x" })]) {
      expect(text).toContain('name="name" value="robot"');
      expect(text).toContain('name="credits_per_day" inputmode="numeric" value="7"');
      expect(text).toContain('value="read" checked> read');
      expect(text).toContain('value="create"> create and upload');
    }
    expect(await service.keys.listLive(person.id)).toHaveLength(1);
  });

  it("shows the error of a form with too much text", async () => {
    const { post } = await newPerson();
    const error =
      "Its texts have more than 512 kB, so nothing was saved. Go back, shorten them, and send the form again.";
    for (const [path, field] of [
      ["/account/keys", "name"],
      ["/login", "email"],
    ] as const)
      expect(await post(path, { [field]: "x".repeat(600_000) })).toMatchObject({ status: 413, error });
  });

  it("shows an expired key as expired, and creates a key without limits from the name alone", async () => {
    const { person, create, read } = await newPerson();
    const soon = new Date(service.clock.now().getTime() + 60_000).toISOString().slice(0, 19);
    expect((await create({ name: "brief", expires_at: soon })).status).toBe(303);
    await service.clock.advance(60_000);
    expect(keyLine(await read("/account/keys"), "brief")).toMatch(/expired .* UTC/);
    expect((await create({ name: "plain" })).status).toBe(303);
    expect((await service.keys.listLive(person.id))[0]?.limits).toEqual(NO_LIMITS);
  });

  it.each<[Record<string, string>, string]>([
    [{ limits: "1" }, "Choose what the key may do."],
    [{ limits: "1", scope: "root" }, "Choose what the key may do."],
    [{ expires_at: "2001-01-01" }, "Expiry of the key must be in the future."],
    [{ credits_per_day: "0" }, "Credits per day must be a whole number from 1 to 1,000,000,000."],
    [{ credits_per_month: "x" }, "Credits per month must be a whole number from 1 to 1,000,000,000."],
  ])("refuses a key with %j", async (fields, sentence) => {
    const { person, create } = await newPerson();
    const { status, error } = await create({ name: "k", ...fields });
    expect([status, error]).toEqual([400, expect.stringContaining(sentence)]);
    expect(await service.keys.list(person.id)).toHaveLength(1);
  });
});
