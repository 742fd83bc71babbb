import { err } from "neverthrow";
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Email } from "../../../../domain/accounts/account.js";
import { credits } from "../../../../domain/credits/credits.js";
import { logIn, setUpService, startService, visiting } from "../../../support/visit.js";
import { PASSWORD, type Person } from "../../../support/web-service.js";

describe("login and sign-up", () => {
  const service = setUpService({ welcomeCredits: credits(12) });
  let ann: Person;

  beforeAll(async () => {
    ann = await service.person("ann");
  });
  beforeEach(() => service.clock.advance(60_000)); // attempts of the previous test no longer count

  const visit = (path: string, cookie = "") => visiting(service, cookie).get(path);
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    visiting(service).post(path, fields, headers);
  const login = (fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    post("/login", { email: ann.email, password: PASSWORD, ...fields }, headers);
  const from = (address: string) => ({ "x-forwarded-for": address });
  const accountOf = (email: string) => service.accounts.findByEmail(email as Email);

  it("set a session cookie that scripts and other sites cannot read, and the logout removes it", async () => {
    const { status, location, headers, cookie } = await login();
    expect([status, location]).toEqual([303, "/works"]);
    expect(headers.get("set-cookie")).toMatch(/^session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
    expect((await visit("/works", cookie)).status).toBe(200);
    const member = await logIn(service, ann);
    expect(await member.post("/logout")).toMatchObject({ location: "/", cookie: "session=" });
    expect((await member.get("/account")).location).toBe("/login?next=%2Faccount&ended=1");
  });

  it("refuse a wrong password, and the eleventh attempt of a minute from one address", async () => {
    const error = "The e-mail address or the password is wrong.";
    for (let n = 1; n <= 10; n += 1)
      expect(await login({ password: "a guess" }, from("203.0.113.1"))).toMatchObject({
        status: 401,
        cookie: "",
        error,
      });
    const refused = await login({}, from("203.0.113.1"));
    expect(refused).toMatchObject({ status: 429, error: expect.stringContaining("in 60 seconds") });
    expect(refused.headers.get("retry-after")).toBe("60");
    expect((await login({}, from("203.0.113.2"))).status).toBe(303);
  });

  it("open the requested page after a sign-up with welcome credits; a taken address changes nothing", async () => {
    const next = "/works?prompt=a+quiet+lake";
    const fields = { password: "another password", next };
    const taken = await post("/signup", { email: ann.email, ...fields });
    const fresh = await post("/signup", { email: "fresh@example.com", ...fields });
    expect([fresh.status, fresh.location]).toEqual([303, next]);
    expect((await visit(next, fresh.cookie)).text).toContain(">a quiet lake</textarea>");
    const account = (await visit("/account", fresh.cookie)).text;
    for (const part of ['<p class="figure">12</p>', "Welcome credits"]) expect(account).toContain(part);
    expect([taken.status, taken.location, taken.cookie]).toEqual([303, "/login?new=1&prompt=a+quiet+lake", ""]);
    expect((await login({ password: "another password" })).status).toBe(401);
  });

  it("count a sign-up and the login after it as two attempts, for a taken and for a new address", async () => {
    for (const email of [ann.email, "counted@example.com"]) {
      const signUp = () => post("/signup", { email, password: "another password" }, from("203.0.113.9"));
      for (let n = 1; n <= 5; n += 1) expect((await signUp()).status).toBe(303);
      expect((await signUp()).status).toBe(429);
    }
  });

  it("show the costs before the sign-up, and keep the requested page from form to form", async () => {
    const query = "prompt=a+lake";
    const { text } = await visit(`/login?ended=1&${query}`);
    expect(text).toContain("You were logged out. Your prompt is kept: log in to go on.");
    for (const path of ["/signup", "/password/forgot"]) {
      expect(text).toContain(`href="${path}?${query}"`);
      expect((await visit(`${path}?${query}`)).text).toContain('name="next" value="/works?prompt=a+lake"');
    }
    const costs = "A panorama costs 4 credits in 1K, 6 in 2K or 10 in 4K. You start with 12 credits.";
    expect((await visit("/signup")).text).toContain(costs);
    expect((await visit("/login")).text).not.toContain("logged out");
  });

  it("leave out a requested page that makes a longer URL than proxies take", async () => {
    const next = `/works?${new URLSearchParams({ prompt: "湖".repeat(1_500) })}`; // 13.5 kB
    const answers = [
      await visit(next),
      await post("/signup", { email: "long@example.com", password: PASSWORD, next }),
      await post("/password/forgot", { email: ann.email, next }),
      await login({ next }),
    ];
    for (const { status, headers } of answers) {
      const sizes = ["location", "set-cookie"].map((name) => headers.get(name)?.length ?? 0);
      expect([status, Math.max(...sizes) < 8_000]).toEqual([303, true]);
    }
  });

  it("answer 400 to a weak password and 503 while too many passwords wait, and open no account", async () => {
    const signUp = (password: string) => post("/signup", { email: "new@example.com", password });
    const error = "Password must have 10 to 200 characters, but has 9.";
    expect(await signUp("too short")).toMatchObject({ status: 400, error });
    const { hashPassword, verifyPassword } = service.secrets;
    const busy = async () => err({ kind: "hashing_busy" as const });
    Object.assign(service.secrets, { hashPassword: busy, verifyPassword: busy });
    const answers = [await login(), await signUp("another password")];
    Object.assign(service.secrets, { hashPassword, verifyPassword });
    for (const { status, headers, error } of answers) {
      const sentence = "Too many people are logging in at this moment. Try again in a few seconds.";
      expect([status, headers.get("retry-after"), error]).toEqual([503, "5", sentence]);
    }
    expect(await accountOf("new@example.com")).toBeUndefined();
  });

  it("stop waiting for the hash of a password when the client disconnects", async () => {
    const { verifyPassword } = service.secrets;
    onTestFinished(() => void Object.assign(service.secrets, { verifyPassword }));
    const signals: (AbortSignal | undefined)[] = [];
    service.secrets.verifyPassword = (_password, _hash, signal) => {
      signals.push(signal);
      return new Promise((resolve) =>
        signal?.addEventListener("abort", () => resolve(err({ kind: "hashing_busy" })), { once: true }),
      );
    };
    const client = new AbortController();
    const body = new URLSearchParams({ email: ann.email, password: PASSWORD });
    const request = visiting(service).send("/login", { method: "POST", body, signal: client.signal });
    await expect.poll(() => signals.length).toBe(1);
    expect(signals[0]?.aborted).toBe(false);
    client.abort();
    await expect(request).rejects.toThrow();
    await expect.poll(() => signals[0]?.aborted).toBe(true);
  });
});

it.each([
  ["invited", false, "Accounts of this service are opened by invitation. Ask the operator for a link."],
  ["closed", true, "This service opens no new accounts at the moment."],
] as const)(
  "a sign-up that is %s, with a mail server: %s, has no form and says: %s",
  async (signUp, sendsMail, sentence) => {
    const service = await startService({ signUp }, sendsMail);
    const read = async (path: string) => (await visiting(service).get(path)).text;
    const page = await read("/signup");
    expect(page).toContain(sentence);
    expect(page).not.toContain('<form method="post" action="/signup"');
    const landing = await read("/");
    expect(landing).toMatch(new RegExp(`${sentence} <a href="/login">Log in</a>.*id="hero-form"`, "s"));
    expect(landing).toContain('action="/works" data-visitor>');
    expect(landing).not.toContain("/signup");
    // A link of before may lead here; members go on with their prompt.
    const next = new URLSearchParams({ next: "/works?prompt=a+lake" });
    expect(await read(`/signup?${next}`)).toContain('href="/login?prompt=a+lake">Log in</a>');
    expect(await read("/login")).not.toContain("No account yet?");
    const refused = await visiting(service).post("/signup", { email: "ann@example.com", password: PASSWORD });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(sentence)]);
    expect([await service.database.sql("select * from account"), service.mail.messages]).toEqual([[], []]);
  },
);
