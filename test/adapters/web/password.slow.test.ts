import { err } from "neverthrow";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ManualPayments } from "../../../adapters/payments/manual-payments.js";
import type { Letter } from "../../../application/ports/mail.js";
import type { Email } from "../../../domain/accounts/account.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

const NEW_PASSWORD = "a new password of mine";
const HOUR = 3_600_000;

describe.each([true, false])("passwords by link, with a mail server: %s", (sendsMail) => {
  let service: WebService;
  let ann: Person;

  beforeAll(async () => {
    service = await WebService.start(new ManualPayments(), sendsMail);
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });
  let people = 0;
  beforeEach(async () => {
    await service.clock.advance(HOUR); // earlier attempts and links no longer count
    service.mail.letters.length = 0;
    people += 1;
    ann = await service.person(`ann${people}`);
  });

  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(service.url + path, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(fields),
      headers: { origin: service.url, ...headers },
    });
  const visit = (path: string, cookie = "") => fetch(service.url + path, { redirect: "manual", headers: { cookie } });
  const login = (email: string, password: string) => post("/login", { email, password });
  const cookieOf = (response: Response) => response.headers.get("set-cookie")?.split(";")[0] ?? "";
  const forgot = (email: string, headers: Record<string, string> = {}) => post("/password/forgot", { email }, headers);
  const reset = (token: string, password = NEW_PASSWORD) => post("/password/reset", { token, password });
  const lastLetter = (): Letter => {
    const letter = service.mail.letters.at(-1);
    if (letter === undefined) throw new Error("no letter was posted");
    return letter;
  };
  const lastToken = (): string => lastLetter().token ?? "";
  const linkFor = async (email: string): Promise<string> => {
    await forgot(email);
    return lastToken();
  };

  it("set a new password, end every session of the account, and log in", async () => {
    const old = cookieOf(await login(ann.email, PASSWORD));
    const token = await linkFor(ann.email);
    expect(lastLetter()).toEqual({ kind: "new_password", to: ann.email, token });
    expect((await visit(`/password/reset?token=${token}`)).status).toBe(200);
    expect((await visit("/works", old)).status).toBe(200); // asking for a link and looking at it change nothing

    const set = await reset(token);
    expect([set.status, set.headers.get("location")]).toEqual([303, "/works"]);
    expect((await visit("/works", cookieOf(set))).status).toBe(200);
    expect((await visit("/works", old)).headers.get("location")).toBe("/login?next=%2Fworks&ended=1");
    expect((await login(ann.email, PASSWORD)).status).toBe(401);
    expect((await login(ann.email, NEW_PASSWORD)).status).toBe(303);
  });

  it("work once, which invalidates the other links of the address", async () => {
    const [first, second] = [await linkFor(ann.email), await linkFor(ann.email)];
    expect((await reset(first)).status).toBe(303);
    for (const token of [first, second]) {
      const again = await reset(token, "the password of somebody else");
      expect([again.status, await again.text()]).toEqual([410, expect.stringContaining("This link has expired")]);
      expect((await visit(`/password/reset?token=${token}`)).status).toBe(410);
    }
    expect((await login(ann.email, NEW_PASSWORD)).status).toBe(303);
  });

  it("succeed for one of five concurrent uses", async () => {
    const token = await linkFor(ann.email);
    const statuses = await Promise.all(
      [1, 2, 3, 4, 5].map(async (n) => (await reset(token, `password number ${n}`)).status),
    );
    expect(statuses.sort()).toEqual([303, 410, 410, 410, 410]);
  });

  it("expire after an hour", async () => {
    const token = await linkFor(ann.email);
    await service.clock.advance(HOUR - 1);
    expect((await visit(`/password/reset?token=${token}`)).status).toBe(200);
    await service.clock.advance(1);
    expect((await visit(`/password/reset?token=${token}`)).status).toBe(410);
    expect((await reset(token)).status).toBe(410);
    expect((await login(ann.email, PASSWORD)).status).toBe(303);
  });

  it("use tokens of at least 128 random bits, and store only the digest", async () => {
    const tokens = [await linkFor(ann.email), await linkFor(ann.email)];
    for (const token of tokens) {
      expect(Buffer.from(token, "base64url").length).toBeGreaterThanOrEqual(16);
      expect(JSON.stringify(await service.database.sql("select * from password_link"))).not.toContain(token);
    }
    expect(tokens[0]).not.toBe(tokens[1]);
  });

  it("stay valid when the password breaks a rule or too many passwords wait", async () => {
    const token = await linkFor(ann.email);
    const short = await reset(token, "too short");
    expect([short.status, await short.text()]).toEqual([400, expect.stringContaining("Password must have 10 to 200")]);
    const { hashPassword } = service.secrets;
    Object.assign(service.secrets, { hashPassword: async () => err({ kind: "hashing_busy" as const }) });
    const busy = await reset(token);
    Object.assign(service.secrets, { hashPassword });
    expect([busy.status, await busy.text()]).toEqual([503, expect.stringContaining("Try again in a few seconds")]);
    expect((await reset(token)).status).toBe(303);
  });

  it("refuse unknown and malformed tokens without hashing a password", async () => {
    let hashed = 0;
    const { hashPassword } = service.secrets;
    Object.assign(service.secrets, {
      hashPassword: async () => {
        hashed += 1;
        return err({ kind: "hashing_busy" as const });
      },
    });
    for (const token of ["", "x", "x".repeat(43), "x".repeat(100_000), "\0"]) {
      expect((await reset(token)).status).toBe(410);
      expect((await visit(`/password/reset?token=${encodeURIComponent(token.slice(0, 50))}`)).status).toBe(410);
    }
    Object.assign(service.secrets, { hashPassword });
    expect(hashed).toBe(0);
  });

  it("get the same answer for known and unknown addresses, and an e-mail only for known ones", async () => {
    const known = await forgot(ann.email);
    const unknown = await forgot("nobody@example.com");
    for (const answer of [known, unknown]) {
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/password/forgot?sent=1"]);
    }
    expect(await known.text()).toBe(await unknown.text());
    expect(service.mail.letters.map(({ to }) => to)).toEqual([ann.email]);
    const links = await service.database.sql("select email from password_link");
    expect(links.map(({ email }) => email).sort()).toEqual([ann.email, "nobody@example.com"].sort());
    const page = await (await visit("/password/forgot?sent=1")).text();
    expect(page).toContain(sendsMail ? "an e-mail with a link is on its way" : "please ask the operator for it");
  });

  it("are sent at most five times an hour per address; earlier links still work", async () => {
    for (let n = 1; n <= 8; n += 1) {
      expect((await forgot(ann.email, { "x-forwarded-for": `203.0.113.${n}` })).status).toBe(303);
    }
    expect(service.mail.letters).toHaveLength(5);
    await service.clock.advance(HOUR / 2);
    expect((await reset(service.mail.letters[0]?.token ?? "")).status).toBe(303);
    await linkFor(ann.email);
    expect(service.mail.letters).toHaveLength(6);
  });

  it("can be asked for ten times a minute from one network", async () => {
    const from = { "x-forwarded-for": "203.0.113.7" };
    for (let n = 1; n <= 10; n += 1) expect((await forgot(`nobody-${n}@example.com`, from)).status).toBe(303);
    const refused = await forgot(ann.email, from);
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining("Try again in 60 seconds")]);
    expect((await forgot(ann.email, { "x-forwarded-for": "203.0.113.8" })).status).toBe(303);
    expect(service.mail.letters).toHaveLength(1);
  });

  it("get the owner in while somebody else uses up the login attempts for the address", async () => {
    for (let n = 0; n < 110; n += 1) {
      await post("/login", { email: ann.email, password: "a guess" }, { "x-forwarded-for": `203.0.113.${n % 11}` });
    }
    expect((await login(ann.email, PASSWORD)).status).toBe(429);
    const set = await reset(await linkFor(ann.email));
    expect((await visit("/works", cookieOf(set))).status).toBe(200);
  });

  it("refuse an invalid address", async () => {
    const refused = await forgot("nobody");
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("E-mail")]);
  });

  it("return to the page that required the login, in the same browser", async () => {
    const asked = await post("/password/forgot", { email: ann.email, next: "/works?prompt=a+lake%3B+at+dawn" });
    expect(asked.headers.get("set-cookie")).toMatch(/^next=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
    const fields = { token: lastToken(), password: NEW_PASSWORD };
    const set = await post("/password/reset", fields, { cookie: cookieOf(asked) });
    expect(set.headers.get("location")).toBe("/works?prompt=a+lake%3B+at+dawn");
    const forged = { token: await linkFor(ann.email), password: NEW_PASSWORD };
    const elsewhere = await post("/password/reset", forged, { cookie: "next=%2F%2Fevil.example" });
    expect(elsewhere.headers.get("location")).toBe("/works");
  });

  if (sendsMail)
    it("open an account at sign-up, which needs no password before", async () => {
      const email = `new${people}@example.com`;
      expect(await (await visit("/signup")).text()).not.toContain('name="password"');
      const signedUp = await post("/signup", { email });
      expect([signedUp.status, signedUp.headers.get("location")]).toEqual([303, "/signup?sent=1"]);
      expect(await service.accounts.findByEmail(email as Email)).toBeUndefined();
      expect(lastLetter()).toMatchObject({ kind: "sign_up", to: email });
      const opened = await reset(lastToken());
      expect([opened.status, opened.headers.get("location")]).toEqual([303, "/works"]);
      expect((await visit("/works", cookieOf(opened))).status).toBe(200);
      expect((await login(email, NEW_PASSWORD)).status).toBe(303);
      expect(await service.accounts.findByEmail(email as Email)).toMatchObject({
        account: { email, createdAt: service.clock.now() },
      });
    });

  if (sendsMail)
    it("treat a taken and a new address alike in every step without the mailbox", async () => {
      const transcript = async (email: string) => {
        const hide = (text: string) => text.replaceAll(email, "ADDRESS");
        const shown = async (answer: Response) => [
          answer.status,
          answer.headers.get("location"),
          answer.headers.get("set-cookie"),
          hide(await answer.text()),
        ];
        const fields = { email, password: NEW_PASSWORD }; // an attacker may send a password as well
        return [
          await shown(await post("/signup", fields)),
          await shown(await visit("/signup?sent=1")),
          await shown(await post("/login", fields)),
          await shown(await post("/signup", fields)),
          await shown(await forgot(email)),
          await shown(await post("/login", fields)),
        ];
      };
      expect(await transcript(ann.email)).toEqual(await transcript(`new${people}@example.com`));
      expect(service.mail.letters.map(({ kind }) => kind)).toEqual([
        "already_registered",
        "already_registered",
        "new_password",
        "sign_up",
        "sign_up",
      ]);
      expect((await login(ann.email, PASSWORD)).status).toBe(303);
    });

  if (!sendsMail)
    it("are not needed at sign-up without a mail server: the account opens at once", async () => {
      const email = `new${people}@example.com`;
      expect((await post("/signup", { email, password: PASSWORD })).headers.get("location")).toBe("/works");
      expect(service.mail.letters).toEqual([]);
      expect((await login(email, PASSWORD)).status).toBe(303);
    });
});
