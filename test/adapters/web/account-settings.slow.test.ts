import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ManualPayments } from "../../../adapters/payments/manual-payments.js";
import type { Email } from "../../../domain/accounts/account.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

const NEW_PASSWORD = "a new password of mine";
const SETTINGS = "/account/settings";

describe.each([true, false])("the settings of an account, with a mail server: %s", (sendsMail) => {
  let service: WebService;
  let ann: Person;
  let cookie: string;
  let people = 0;

  beforeAll(async () => {
    service = await WebService.start(new ManualPayments(), sendsMail);
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });
  beforeEach(async () => {
    await service.clock.advance(3_600_000);
    service.mail.letters.length = 0;
    people += 1;
    ann = await service.person(`ann${people}`, 20_000);
    cookie = await session(ann.email);
  });

  const send = (path: string, fields: Record<string, string>, more: Record<string, string> = {}) =>
    fetch(service.url + path, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(fields),
      headers: { origin: service.url, ...more },
    });
  const visit = (path: string, as = cookie, method = "GET") =>
    fetch(service.url + path, { method, redirect: "manual", headers: { cookie: as } });
  const textOf = async (path: string, as = cookie) => (await visit(path, as)).text();
  const login = (email: string, password = PASSWORD) => send("/login", { email, password });
  const cookieOf = (response: Response) => response.headers.get("set-cookie")?.split(";")[0] ?? "";
  const session = async (email: string, password = PASSWORD) => cookieOf(await login(email, password));
  const tokenOf = async (as: string) =>
    /name="form_token" value="([^"]+)"/.exec(await textOf("/account", as))?.[1] ?? "";
  const post = async (path: string, fields: Record<string, string>, as = cookie) =>
    send(path, { form_token: await tokenOf(as), ...fields }, { cookie: as });
  const letters = () => service.mail.letters.map(({ kind, to }) => [kind, to]);
  const linkPath = () => `/account/email?token=${service.mail.letters.at(-1)?.token}`;
  const leadsTo = (response: Response) => [response.status, response.headers.get("location")];
  const LOGGED_OUT = [303, "/login?next=%2Fworks&ended=1"];

  it("change the password, stay logged in here, and end the other sessions", async () => {
    const elsewhere = await session(ann.email);
    const changed = await post("/account/password", { current: PASSWORD, password: NEW_PASSWORD });
    expect(leadsTo(changed)).toEqual([303, `${SETTINGS}?done=password`]);
    const fresh = cookieOf(changed);
    expect(await textOf(`${SETTINGS}?done=password`, fresh)).toContain("You are logged out everywhere else.");
    for (const old of [cookie, elsewhere]) expect(leadsTo(await visit("/works", old))).toEqual(LOGGED_OUT);
    expect([(await login(ann.email)).status, (await login(ann.email, NEW_PASSWORD)).status]).toEqual([401, 303]);
    expect(letters()).toEqual([["password_changed", ann.email]]);
  });

  it("refuse a wrong password, a short new one, forms of other sites and of strangers, and too many attempts", async () => {
    const wrong = await post("/account/password", { current: "wrong", password: NEW_PASSWORD });
    expect([wrong.status, await wrong.text()]).toEqual([
      403,
      expect.stringContaining("The current password is wrong."),
    ]);
    const short = await post("/account/password", { current: PASSWORD, password: "short" });
    expect([short.status, await short.text()]).toEqual([400, expect.stringContaining("Password must have 10 to 200")]);
    const paths = ["/account/password", "/account/email", "/account/email/confirm", "/account/delete"];
    for (const path of paths) {
      const fields = { form_token: await tokenOf(cookie), current: PASSWORD, password: NEW_PASSWORD, email: "a@b.c" };
      expect((await send(path, fields, { cookie, origin: "https://evil.example" })).status).toBe(403);
      expect((await send(path, { ...fields, form_token: "x" }, { cookie })).status).toBe(403);
      expect(leadsTo(await send(path, fields))).toEqual([303, `/login?next=%2Faccount%2Fsettings&ended=1`]);
    }
    for (let n = 0; n < 9; n += 1) await post("/account/delete", { current: "wrong" });
    const limited = await post("/account/password", { current: PASSWORD, password: NEW_PASSWORD });
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(await limited.text()).toContain("Too many attempts.");
    await service.clock.advance(60_000);
    expect((await login(ann.email)).status).toBe(303);
    expect(letters()).toEqual([]);
  });

  it("change the e-mail address with the link that was sent to it", async () => {
    const email = `ann${people}@new.example.com`;
    const asked = await post("/account/email", { email, current: PASSWORD });
    expect(leadsTo(asked)).toEqual([303, `${SETTINGS}?done=link`]);
    const page = await textOf(`${SETTINGS}?done=link`);
    expect(page).toContain(
      sendsMail ? "an e-mail with a link is on its way to it" : "please ask the operator for the link",
    );
    expect(letters()).toEqual([["confirm_email", email]]);
    const path = linkPath();
    const token = service.mail.letters.at(-1)?.token ?? "";
    expect(leadsTo(await visit(path, ""))).toEqual([303, `/login?next=${encodeURIComponent(path)}`]);
    expect(await textOf(path)).toContain(`to <strong>${email}</strong>`);
    expect((await login(email)).status).toBe(401); // looking at it changes nothing
    expect((await visit(`/password/reset?token=${token}`)).status).toBe(410);

    const ben = await service.person(`ben${people}`);
    const bens = await session(ben.email);
    for (const other of [await visit(path, bens), await post("/account/email/confirm", { token }, bens)]) {
      expect([other.status, await other.text()]).toEqual([
        410,
        expect.stringContaining(`logged in as <strong>${ben.email}`),
      ]);
    }
    const confirmed = await post("/account/email/confirm", { token });
    expect(leadsTo(confirmed)).toEqual([303, `${SETTINGS}?done=email`]);
    expect(await textOf(`${SETTINGS}?done=email`)).toContain(`You log in with <strong>${email}</strong>`);
    expect([(await login(ann.email)).status, (await login(email)).status]).toEqual([401, 303]);
    expect(letters().at(-1)).toEqual(["email_changed", ann.email]);
    expect((await post("/account/email/confirm", { token })).status).toBe(410);
  });

  it("answer the same for a known address, and keep the fields of a refused form", async () => {
    const ben = await service.person(`ben${people}`);
    const answers = [];
    for (const email of [ben.email, `free${people}@example.com`]) {
      const asked = await post("/account/email", { email, current: PASSWORD });
      answers.push([...leadsTo(asked), await textOf(asked.headers.get("location") ?? "")]);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(letters()).toEqual([
      ["email_in_use", ben.email],
      ["confirm_email", `free${people}@example.com`],
    ]);
    const wrong = await post("/account/email", { email: "kept@example.com", current: "wrong" });
    expect([wrong.status, await wrong.text()]).toEqual([403, expect.stringContaining('value="kept@example.com"')]);
    const same = await post("/account/email", { email: ann.email, current: PASSWORD });
    expect([same.status, await same.text()]).toEqual([400, expect.stringContaining("address of your account already")]);
    const token = service.mail.letters.at(-1)?.token ?? "";
    await service.accounts.open({
      id: service.ids.accountId(),
      email: `free${people}@example.com` as Email,
      createdAt: service.clock.now(),
    });
    const taken = await post("/account/email/confirm", { token });
    expect([taken.status, await taken.text()]).toEqual([409, expect.stringContaining("belongs to another account")]);
  });

  it("give a copy of the own data, and no secrets, one object a line", async () => {
    await service.kept(ann, { prompt: "a quiet lake of mine", visibility: "private" });
    const ben = await service.person(`ben${people}`);
    await service.kept(ben, { prompt: "a lake of somebody else" });
    const endpoint = await post("/account/webhooks", { url: "https://receiver.example.com/hook" });
    expect(endpoint.status).toBe(303);
    const answer = await visit("/account/data.jsonl?account=acc_other");
    expect(answer.headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="panorama-account.jsonl"');
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const text = await answer.text();
    const records = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const types = records.map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual(["account", "key", "order"]);
    expect(new Set(types)).toEqual(
      new Set(["account", "key", "order", "ledger_entry", "panorama", "webhook_endpoint"]),
    );
    expect(records[0]).toMatchObject({ id: ann.id, email: ann.email });
    expect(text).toContain("a quiet lake of mine");
    for (const secret of ["somebody else", ann.key, "whsec_", "scrypt", cookie.split("=")[1] ?? "", ben.email])
      expect(text).not.toContain(secret);
    expect((await visit("/account/data.jsonl", "")).status).toBe(303);
    const head = await visit("/account/data.jsonl", cookie, "HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (let n = 0; n < 20; n += 1) await service.kept(ann, { prompt: `${n} ${"words ".repeat(600)}` });
    await service.clock.advance(60_000);
    const large = await textOf("/account/data.jsonl"); // in several pieces
    expect(
      large
        .trimEnd()
        .split("\n")
        .filter((line) => JSON.parse(line).type === "panorama"),
    ).toHaveLength(21);
  });

  it("explain the deletion, delete the account with the password, and free the address", async () => {
    const elsewhere = await session(ann.email);
    const { slug, image } = await service.kept(ann, { prompt: "a lake to forget" });
    expect((await visit(`/p/${slug}`, "")).status).toBe(200);
    const page = await textOf(SETTINGS);
    for (const sentence of ["Your 19,996 credits are lost.", "This can’t be undone.", "without your address"])
      expect(page).toContain(sentence);

    service.provider.play({ poll: "running" });
    const { id } = await service.panorama(ann, { prompt: "an unfinished one" });
    expect(await textOf(SETTINGS)).toContain("the account can’t be deleted");
    const active = await post("/account/delete", { current: PASSWORD });
    expect([active.status, await active.text()]).toEqual([
      409,
      expect.stringContaining("A panorama of yours is being made"),
    ]);
    service.provider.play({ poll: "failed" });
    await service.work();
    expect((await service.tasks.find(id, ann.id))?.state).toBe("failed");
    service.provider.play({ poll: "succeeded" });

    const wrong = await post("/account/delete", { current: "wrong" });
    expect([wrong.status, await wrong.text()]).toEqual([403, expect.stringContaining('class="revoke" open')]);
    const deleted = await post("/account/delete", { current: PASSWORD });
    expect(leadsTo(deleted)).toEqual([303, "/login?deleted=1"]);
    expect(cookieOf(deleted)).toBe("session=");
    expect(await textOf("/login?deleted=1", "")).toContain("Your account is deleted");
    for (const old of [cookie, elsewhere]) expect(leadsTo(await visit("/works", old))).toEqual(LOGGED_OUT);
    expect((await visit(`/p/${slug}`, "")).status).toBe(404);
    expect((await login(ann.email)).status).toBe(401);
    const credits = await fetch(`${service.url}/api/v1/credits`, { headers: { authorization: `Bearer ${ann.key}` } });
    expect(credits.status).toBe(401);
    expect(letters()).toEqual([["account_deleted", ann.email]]);
    expect(image.status).toBe("saved");
    await service.person(`ann${people}`); // the address is free
  });
});
