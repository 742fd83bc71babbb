import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Email } from "../../../domain/accounts/account.js";
import { logIn, setUpService, visiting } from "../../support/visit.js";
import { PASSWORD, type Person, type WebService } from "../../support/web-service.js";

const NEW_PASSWORD = "a new password of mine";
const SETTINGS = "/account/settings";
const LOGGED_OUT = "/login?next=%2Fworks&ended=1";

describe.each([true, false])("the settings of an account, with a mail server: %s", (sendsMail) => {
  const on = setUpService({}, { sendsMail });
  let service: WebService;
  let ann: Person;
  let member: Awaited<ReturnType<typeof logIn>>;
  let people = 0;

  beforeAll(() => {
    ({ service } = on);
  });
  beforeEach(async () => {
    await service.clock.advance(3_600_000);
    service.mail.letters.length = 0;
    people += 1;
    ann = await service.person(`ann${people}`, 20_000);
    member = await logIn(service, ann);
  });

  const login = async (email: string, password = PASSWORD) =>
    (await visiting(service).post("/login", { email, password })).status;
  const letters = () => service.mail.letters.map(({ kind, to }) => [kind, to]);
  const lastToken = () => service.mail.letters.at(-1)?.token ?? "";

  it("change the password, stay logged in here, and end the other sessions", async () => {
    const elsewhere = await logIn(service, ann);
    const changed = await member.post("/account/password", { current: PASSWORD, password: NEW_PASSWORD });
    expect([changed.status, changed.location]).toEqual([303, `${SETTINGS}?done=password`]);
    const page = await visiting(service, changed.cookie).get(`${SETTINGS}?done=password`);
    expect(page.text).toContain("You are logged out everywhere else.");
    for (const old of [member, elsewhere]) expect((await old.get("/works")).location).toBe(LOGGED_OUT);
    expect([await login(ann.email), await login(ann.email, NEW_PASSWORD)]).toEqual([401, 303]);
    expect(letters()).toEqual([["password_changed", ann.email]]);
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
    const { status, headers, error } = await change(PASSWORD);
    expect([status, headers.get("retry-after"), error]).toEqual([
      429,
      expect.stringMatching(/^\d+$/),
      expect.stringContaining("Too many attempts."),
    ]);
    expect(letters()).toEqual([]);
  });

  it("change the e-mail address with the link that was sent to it", async () => {
    const email = `ann${people}@new.example.com`;
    const asked = await member.post("/account/email", { email, current: PASSWORD });
    expect([asked.status, asked.location]).toEqual([303, `${SETTINGS}?done=link`]);
    expect(await member.read(`${SETTINGS}?done=link`)).toContain(
      sendsMail ? "an e-mail with a link is on its way to it" : "please ask the operator for the link",
    );
    expect(letters()).toEqual([["confirm_email", email]]);
    const [token, path] = [lastToken(), `/account/email?token=${lastToken()}`];
    expect((await visiting(service).get(path)).location).toBe(`/login?next=${encodeURIComponent(path)}`);
    expect(await member.read(path)).toContain(`to <strong>${email}</strong>`);
    expect(await login(email)).toBe(401); // looking at it changes nothing

    const ben = await service.person(`ben${people}`);
    const other = await logIn(service, ben);
    for (const { status, text } of [await other.get(path), await other.post("/account/email/confirm", { token })])
      expect([status, text]).toEqual([410, expect.stringContaining(`logged in as <strong>${ben.email}`)]);
    expect((await member.post("/account/email/confirm", { token })).location).toBe(`${SETTINGS}?done=email`);
    expect(await member.read(`${SETTINGS}?done=email`)).toContain(`You log in with <strong>${email}</strong>`);
    expect([await login(ann.email), await login(email)]).toEqual([401, 303]);
    expect(letters().at(-1)).toEqual(["email_changed", ann.email]);
    expect((await member.post("/account/email/confirm", { token })).status).toBe(410);
  });

  it("answer the same for a known address, and keep the fields of a refused form", async () => {
    const ben = await service.person(`ben${people}`);
    const free = `free${people}@example.com`;
    const answers = [];
    for (const email of [ben.email, free]) {
      const { status, location } = await member.post("/account/email", { email, current: PASSWORD });
      answers.push([status, location, await member.read(location ?? "")]);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(letters()).toEqual([
      ["email_in_use", ben.email],
      ["confirm_email", free],
    ]);
    const wrong = await member.post("/account/email", { email: "kept@example.com", current: "wrong" });
    expect([wrong.status, wrong.text]).toEqual([403, expect.stringContaining('value="kept@example.com"')]);
    const same = await member.post("/account/email", { email: ann.email, current: PASSWORD });
    expect([same.status, same.error]).toEqual([400, expect.stringContaining("address of your account already")]);
    const token = lastToken();
    const [id, createdAt] = [service.ids.accountId(), service.clock.now()];
    await service.accounts.open({ id, email: free as Email, createdAt });
    const taken = await member.post("/account/email/confirm", { token });
    expect([taken.status, taken.text]).toEqual([409, expect.stringContaining("belongs to another account")]);
  });

  it("give a copy of the own data, and no secrets, one object a line", async () => {
    await service.kept(ann, { prompt: "a quiet lake of mine", visibility: "private" });
    const ben = await service.person(`ben${people}`);
    await service.kept(ben, { prompt: "a lake of somebody else" });
    expect((await member.post("/account/webhooks", { url: "https://receiver.example.com/hook" })).status).toBe(303);
    const { headers, text } = await member.get("/account/data.jsonl?account=acc_other");
    expect(headers.get("content-disposition")).toBe('attachment; filename="panorama-account.jsonl"');
    const records = (lines: string) =>
      lines
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { type: string });
    const types = records(text).map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual(["account", "key", "order"]);
    expect([...new Set(types)].slice(3).sort()).toEqual(["ledger_entry", "panorama", "webhook_endpoint"]);
    expect(records(text)[0]).toMatchObject({ id: ann.id, email: ann.email });
    expect(text).toContain("a quiet lake of mine");
    const secrets = ["somebody else", ann.key, "whsec_", "scrypt", member.cookie.split("=")[1] ?? "", ben.email];
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(await member.send("/account/data.jsonl", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
    for (let n = 0; n < 20; n += 1) await service.kept(ann, { prompt: `${n} ${"words ".repeat(600)}` });
    await service.clock.advance(60_000);
    const large = records(await member.read("/account/data.jsonl")); // in several pieces
    expect(large.filter(({ type }) => type === "panorama")).toHaveLength(21);
  });

  it("explain the deletion, delete the account with the password, and free the address", async () => {
    const elsewhere = await logIn(service, ann);
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
    const visitor = visiting(service);
    expect((await visitor.get("/login?deleted=1")).text).toContain("Your account is deleted");
    for (const old of [member, elsewhere]) expect((await old.get("/works")).location).toBe(LOGGED_OUT);
    expect((await visitor.get(`/p/${slug}`)).status).toBe(404);
    expect(await login(ann.email)).toBe(401);
    expect((await visitor.get("/api/v1/credits", { authorization: `Bearer ${ann.key}` })).status).toBe(401);
    expect(letters()).toEqual([["account_deleted", ann.email]]);
    await service.person(`ann${people}`); // the address is free
  });
});
