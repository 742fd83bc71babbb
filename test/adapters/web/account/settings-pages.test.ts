import { beforeEach, describe, expect, it } from "vitest";
import type { Email } from "../../../../domain/accounts/account.js";
import { putTask } from "../../../support/put-task.js";
import { logIn, setUpService, startService, visiting } from "../../../support/visit.js";
import { PASSWORD, type Person } from "../../../support/web-service.js";

const NEW_PASSWORD = "a new password of mine";
const SETTINGS = "/account/settings";
const LOGGED_OUT = "/login?next=%2Fworks&ended=1";

describe("the settings of an account", () => {
  const service = setUpService({}, true);
  let ann: Person;
  let member: Awaited<ReturnType<typeof logIn>>;
  let people = 0;

  beforeEach(async () => {
    await service.clock.advance(3_600_000);
    service.mail.messages.length = 0;
    people += 1;
    ann = await service.person(`ann${people}`, 20_000);
    member = await logIn(service, ann);
  });

  const lastToken = () => service.mail.messages.at(-1)?.token ?? "";

  it("change the password, and stay logged in here only", async () => {
    const changed = await member.post("/account/password", { current: PASSWORD, password: NEW_PASSWORD });
    expect([changed.status, changed.location]).toEqual([303, `${SETTINGS}?done=password`]);
    const page = await visiting(service, changed.cookie).get(`${SETTINGS}?done=password`);
    expect(page.text).toContain("You are logged out everywhere else.");
    expect((await member.get("/works")).location).toBe(LOGGED_OUT);
  });

  it("end the keys and endpoints that a new password leaves, when the owner wants it", async () => {
    const hook = "https://hooks.example.com/thief";
    await member.post("/account/webhooks", { url: hook });
    expect(await member.read("/account/webhooks")).toContain(hook);
    const { cookie } = await member.post("/account/password", { current: PASSWORD, password: NEW_PASSWORD });
    const browser = visiting(service, cookie);
    const page = await browser.get(`${SETTINGS}?done=password`);
    expect(page.text).toContain("does not end your API keys (1) and your webhook endpoints (1)");
    const ended = await browser.post("/account/access/end", { form_token: page.token });
    expect([ended.status, ended.location]).toEqual([303, `${SETTINGS}?done=access`]);
    expect((await browser.get("/account/webhooks")).text).not.toContain(hook);
    expect(await service.keys.listLive(ann.id)).toEqual([]);
    expect((await browser.get(`${SETTINGS}?done=password`)).text).not.toContain("does not end");
  });

  it("refuse a wrong password, a short new one, and too many attempts", async () => {
    const change = (current: string, password = NEW_PASSWORD) =>
      member.post("/account/password", { current, password });
    expect(await change("wrong")).toMatchObject({
      status: 403,
      error: "The current password is wrong. Nothing has changed.",
    });
    const short = await change(PASSWORD, "short");
    expect([short.status, short.error]).toEqual([400, expect.stringContaining("Password must have 10 to 200")]);
    for (let n = 0; n < 9; n += 1) await member.post("/account/delete", { current: "wrong" });
    expect(await change(PASSWORD)).toMatchObject({ status: 429, error: expect.stringContaining("Too many attempts.") });
  });

  it("change the e-mail address with the link that was sent to it", async () => {
    const email = `ann${people}@new.example.com`;
    const asked = await member.post("/account/email", { email, current: PASSWORD });
    expect([asked.status, asked.location]).toEqual([303, `${SETTINGS}?done=link`]);
    expect(await member.read(`${SETTINGS}?done=link`)).toContain("an e-mail with a link is on its way to it");
    const withoutMail = await startService();
    const other = await logIn(withoutMail, await withoutMail.person("ann"));
    expect(await other.read(`${SETTINGS}?done=link`)).toContain("please ask the operator for the link");
    const [token, path] = [lastToken(), `/account/email?token=${lastToken()}`];
    expect((await visiting(service).get(path)).location).toBe(`/login?next=${encodeURIComponent(path)}`);
    expect(await member.read(path)).toContain(`to <strong>${email}</strong>`);
    expect((await service.accounts.find(ann.id))?.email).toBe(ann.email); // looking at it changes nothing
    const ben = await service.person(`ben${people}`);
    const { get, post } = await logIn(service, ben);
    for (const { status, text } of [await get(path), await post("/account/email/confirm", { token })])
      expect([status, text]).toEqual([410, expect.stringContaining(`logged in as <strong>${ben.email}`)]);
    expect((await member.post("/account/email/confirm", { token })).location).toBe(`${SETTINGS}?done=email`);
    expect(await member.read(`${SETTINGS}?done=email`)).toContain(`You log in with <strong>${email}</strong>`);
  });

  it("keep the fields of a refused form, and say that the address belongs to another account", async () => {
    const wrong = await member.post("/account/email", { email: "kept@example.com", current: "wrong" });
    expect([wrong.status, wrong.text]).toEqual([403, expect.stringContaining('value="kept@example.com"')]);
    const same = await member.post("/account/email", { email: ann.email, current: PASSWORD });
    expect([same.status, same.error]).toEqual([400, expect.stringContaining("address of your account already")]);
    const email = `free${people}@example.com` as Email;
    await member.post("/account/email", { email, current: PASSWORD });
    await service.accounts.open({ id: service.ids.accountId(), email, createdAt: service.clock.now() });
    const taken = await member.post("/account/email/confirm", { token: lastToken() });
    expect([taken.status, taken.text]).toEqual([409, expect.stringContaining("belongs to another account")]);
  });

  it("give a copy of their data, and no secrets, one object a line", async () => {
    await service.kept(await service.person(`ben${people}`), { prompt: "a lake of somebody else" });
    const task = await service.kept(ann, { prompt: "words ".repeat(600) });
    for (let n = 1; n < 20; n += 1)
      await putTask(service.database, { ...task, id: service.ids.taskId(), slug: service.ids.slug() });
    const { headers, text } = await member.get("/account/data.jsonl?account=acc_other"); // in several pieces
    expect(headers.get("content-disposition")).toBe('attachment; filename="panorama-account.jsonl"');
    const records = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(records[0]).toMatchObject({ type: "account", id: ann.id, email: ann.email });
    expect(records.filter(({ type }) => type === "panorama")).toHaveLength(20);
    const secrets = ["somebody else", ann.key, "scrypt", member.cookie.split("=")[1] ?? ""];
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(await member.send("/account/data.jsonl", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  });

  it("explain the deletion, and delete the account with the password", async () => {
    const { slug } = await service.kept(ann, { prompt: "a lake to forget" });
    const page = await member.read(SETTINGS);
    for (const sentence of ["Your 19,996 credits are lost.", "This can’t be undone.", "without your address"])
      expect(page).toContain(sentence);

    service.provider.play({ poll: "running" });
    await service.panorama(ann, { prompt: "an unfinished one" });
    expect(await member.read(SETTINGS)).toContain("the account can’t be deleted");
    const active = await member.post("/account/delete", { current: PASSWORD });
    expect([active.status, active.error]).toEqual([409, expect.stringContaining("A panorama of yours is being made")]);
    service.provider.play({ poll: "failed" });
    await service.work();
    service.provider.play({ poll: "succeeded" });

    const wrong = await member.post("/account/delete", { current: "wrong" });
    expect([wrong.status, wrong.text]).toEqual([403, expect.stringContaining('class="revoke" open')]);
    const deleted = await member.post("/account/delete", { current: PASSWORD });
    expect(deleted).toMatchObject({ status: 303, location: "/login?deleted=1", cookie: "session=" });
    const { get } = visiting(service);
    expect((await get("/login?deleted=1")).text).toContain("Your account is deleted");
    expect((await member.get("/works")).location).toBe(LOGGED_OUT);
    expect((await get(`/p/${slug}`)).status).toBe(404);
    expect((await get("/api/v1/credits", { authorization: `Bearer ${ann.key}` })).status).toBe(401);
  });
});
