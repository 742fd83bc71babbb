import { err } from "neverthrow";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Email } from "../../../domain/accounts/account.js";
import { setUpService, visiting } from "../../support/visit.js";
import { PASSWORD, type Person, type WebService } from "../../support/web-service.js";

const NEW_PASSWORD = "a new password of mine";
const HOUR = 3_600_000;

describe.each([true, false])("passwords by link, with a mail server: %s", (sendsMail) => {
  const on = setUpService({}, { sendsMail });
  let service: WebService;
  let ann: Person;
  let people = 0;

  beforeAll(() => {
    ({ service } = on);
  });
  beforeEach(async () => {
    await service.clock.advance(HOUR); // earlier attempts and links no longer count
    service.mail.letters.length = 0;
    people += 1;
    ann = await service.person(`ann${people}`);
  });

  const visit = (path: string, cookie = "") => visiting(service, cookie).get(path);
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    visiting(service).post(path, fields, headers);
  const login = (email: string, password: string) => post("/login", { email, password });
  const forgot = (email: string) => post("/password/forgot", { email });
  const reset = (token: string, password = NEW_PASSWORD) => post("/password/reset", { token, password });
  const lastToken = (): string => service.mail.letters.at(-1)?.token ?? "";
  const linkFor = async (email: string): Promise<string> => {
    await forgot(email);
    return lastToken();
  };

  it("set a new password once, end every session of the account and its other links, and log in", async () => {
    const old = (await login(ann.email, PASSWORD)).cookie;
    const [other, token] = [await linkFor(ann.email), await linkFor(ann.email)];
    expect(service.mail.letters.at(-1)).toEqual({ kind: "new_password", to: ann.email, token });
    expect((await visit(`/password/reset?token=${token}`)).status).toBe(200);
    expect((await visit("/works", old)).status).toBe(200); // asking for a link and looking at it change nothing

    const set = await reset(token);
    expect([set.status, set.location]).toEqual([303, "/works"]);
    expect((await visit("/works", set.cookie)).status).toBe(200);
    expect((await visit("/works", old)).location).toBe("/login?next=%2Fworks&ended=1");
    expect((await login(ann.email, PASSWORD)).status).toBe(401);
    for (const used of [token, other]) {
      const again = await reset(used, "the password of somebody else");
      expect([again.status, again.text]).toEqual([410, expect.stringContaining("This link has expired")]);
      expect((await visit(`/password/reset?token=${used}`)).status).toBe(410);
    }
    expect((await login(ann.email, NEW_PASSWORD)).status).toBe(303);
  });

  it("expire after an hour", async () => {
    const token = await linkFor(ann.email);
    await service.clock.advance(HOUR - 1);
    expect((await visit(`/password/reset?token=${token}`)).status).toBe(200);
    await service.clock.advance(1);
    expect((await visit(`/password/reset?token=${token}`)).status).toBe(410);
    expect((await reset(token)).status).toBe(410);
  });

  it("use tokens of at least 128 random bits, and store only the digest", async () => {
    const token = await linkFor(ann.email);
    expect(Buffer.from(token, "base64url").length).toBeGreaterThanOrEqual(16);
    expect(JSON.stringify(await service.database.sql("select * from password_link"))).not.toContain(token);
    expect(await linkFor(ann.email)).not.toBe(token);
  });

  it("stay valid when the password breaks a rule or too many passwords wait", async () => {
    const token = await linkFor(ann.email);
    const short = await reset(token, "too short");
    expect([short.status, short.error]).toEqual([400, expect.stringContaining("Password must have 10 to 200")]);
    const { hashPassword } = service.secrets;
    Object.assign(service.secrets, { hashPassword: async () => err({ kind: "hashing_busy" as const }) });
    const busy = await reset(token);
    Object.assign(service.secrets, { hashPassword });
    expect([busy.status, busy.error]).toEqual([503, expect.stringContaining("Try again in a few seconds")]);
    expect((await reset(token)).status).toBe(303);
  });

  it.each(["", "x", "x".repeat(43), "x".repeat(100_000), "\0"])("refuse the token %j", async (token) => {
    expect((await reset(token)).status).toBe(410);
    expect((await visit(`/password/reset?token=${encodeURIComponent(token.slice(0, 50))}`)).status).toBe(410);
  });

  it("get the same answer for known and unknown addresses, and an e-mail only for known ones", async () => {
    const [known, unknown] = [await forgot(ann.email), await forgot("nobody@example.com")];
    for (const { status, location } of [known, unknown])
      expect([status, location]).toEqual([303, "/password/forgot?sent=1"]);
    expect(known.text).toBe(unknown.text);
    expect(service.mail.letters.map(({ to }) => to)).toEqual([ann.email]);
    const page = await visit("/password/forgot?sent=1");
    expect(page.text).toContain(sendsMail ? "an e-mail with a link is on its way" : "please ask the operator for it");
    expect(await forgot("nobody")).toMatchObject({ status: 400, error: expect.stringContaining("e-mail") });
  });

  it("get the owner in while somebody else uses up the login attempts for the address", async () => {
    for (let n = 0; n < 110; n += 1)
      await post("/login", { email: ann.email, password: "a guess" }, { "x-forwarded-for": `203.0.113.${n % 11}` });
    expect((await login(ann.email, PASSWORD)).status).toBe(429);
    expect((await reset(await linkFor(ann.email))).status).toBe(303);
  });

  it("return to the page that required the login, in the same browser", async () => {
    const asked = await post("/password/forgot", { email: ann.email, next: "/works?prompt=a+lake%3B+at+dawn" });
    expect(asked.headers.get("set-cookie")).toMatch(/^next=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
    const resetIn = (cookie: string) =>
      visiting(service, cookie).post("/password/reset", { token: lastToken(), password: NEW_PASSWORD });
    expect((await resetIn(asked.cookie)).location).toBe("/works?prompt=a+lake%3B+at+dawn");
    await forgot(ann.email);
    expect((await resetIn("next=%2F%2Fevil.example")).location).toBe("/works");
  });

  if (sendsMail) {
    it("open an account at sign-up, which needs no password before", async () => {
      const email = `new${people}@example.com`;
      expect((await visit("/signup")).text).not.toContain('name="password"');
      const signedUp = await post("/signup", { email });
      expect([signedUp.status, signedUp.location]).toEqual([303, "/signup?sent=1"]);
      expect(await service.accounts.findByEmail(email as Email)).toBeUndefined();
      const opened = await reset(lastToken());
      expect([opened.status, opened.location]).toEqual([303, "/works"]);
      expect((await visit("/works", opened.cookie)).status).toBe(200);
    });

    it("treat a taken and a new address alike in every step without the mailbox", async () => {
      const transcript = async (email: string) => {
        const fields = { email, password: NEW_PASSWORD }; // an attacker may send a password as well
        const answers = [
          await post("/signup", fields),
          await visit("/signup?sent=1"),
          await post("/login", fields),
          await post("/signup", fields),
          await forgot(email),
          await post("/login", fields),
        ];
        return answers.map(({ status, location, cookie, text }) => {
          return [status, location, cookie, text.replaceAll(email, "ADDRESS")];
        });
      };
      expect(await transcript(ann.email)).toEqual(await transcript(`new${people}@example.com`));
      const kinds = ["already_registered", "already_registered", "new_password", "sign_up", "sign_up"];
      expect(service.mail.letters.map(({ kind }) => kind)).toEqual(kinds);
      expect((await login(ann.email, PASSWORD)).status).toBe(303);
    });
  }
});
