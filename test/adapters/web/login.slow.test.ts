import { err } from "neverthrow";
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Email } from "../../../domain/accounts/account.js";
import { SESSION_SECONDS } from "../../../domain/accounts/session.js";
import { logIn, setUpService, visiting } from "../../support/visit.js";
import { PASSWORD, type Person, type WebService } from "../../support/web-service.js";

describe("login and sessions", () => {
  const on = setUpService();
  let service: WebService;
  let ann: Person;

  beforeAll(async () => {
    ({ service } = on);
    ann = await service.person("ann");
  });
  beforeEach(() => service.clock.advance(60_000)); // attempts of the previous test no longer count

  const visit = (path: string, cookie = "") => visiting(service, cookie).get(path);
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    visiting(service).post(path, fields, headers);
  const login = (fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    post("/login", { email: ann.email, password: PASSWORD, ...fields }, headers);
  const from = (address: string) => ({ "x-forwarded-for": address });

  it("set a session cookie that scripts and other sites cannot read, and store only its digest", async () => {
    const { status, location, headers, cookie } = await login();
    expect([status, location]).toEqual([303, "/works"]);
    expect(headers.get("set-cookie")).toMatch(/^session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
    expect((await visit("/works", cookie)).status).toBe(200);
    const token = cookie.slice("session=".length);
    expect(JSON.stringify(await service.database.sql("select * from session"))).not.toContain(token);
  });

  it("end a session after 30 days, and with the logout", async () => {
    const member = await logIn(service, ann);
    await service.clock.advance(SESSION_SECONDS * 1000 - 1);
    expect((await member.get("/works")).status).toBe(200);
    await service.clock.advance(1);
    expect((await member.get("/works")).location).toBe("/login?next=%2Fworks&ended=1");
    const other = await logIn(service, ann);
    expect(await other.post("/logout")).toMatchObject({ location: "/", cookie: "session=" });
    expect((await other.get("/account")).location).toBe("/login?next=%2Faccount&ended=1");
  });

  it("give the same answer to a wrong password, an unknown address, and a password that is too long", async () => {
    const attempts = [
      { password: "wrong password" },
      { email: "nobody@example.com", password: "wrong password" },
      { password: "x".repeat(201) },
    ];
    const answers = await Promise.all(attempts.map((fields) => login(fields)));
    expect(answers.map(({ status, cookie }) => [status, cookie])).toEqual(Array(3).fill([401, ""]));
    expect(new Set(answers.map(({ text }) => text.replace(/value="[^"]*@[^"]*"/, ""))).size).toBe(1);
  });

  it("log in at sign-up and open the requested page; a taken address changes nothing", async () => {
    const next = "/works?prompt=a+quiet+lake";
    const fields = { password: "another password", next };
    const taken = await post("/signup", { email: ann.email, ...fields });
    const fresh = await post("/signup", { email: "fresh@example.com", ...fields });
    expect([fresh.status, fresh.location]).toEqual([303, next]);
    expect((await visit(next, fresh.cookie)).text).toContain(">a quiet lake</textarea>");
    expect([taken.status, taken.location, taken.cookie]).toEqual([303, "/login?new=1&prompt=a+quiet+lake", ""]);
    expect((await login({ password: "another password" })).status).toBe(401);
    expect((await login()).status).toBe(303);
  });

  it("count a sign-up and the login after it as two attempts, for a taken and for a new address", async () => {
    for (const email of [ann.email, "counted@example.com"]) {
      const signUp = () => post("/signup", { email, password: "another password" }, from("203.0.113.9"));
      for (let n = 1; n <= 5; n += 1) expect((await signUp()).status).toBe(303);
      expect((await signUp()).status).toBe(429);
    }
  });

  it.each([
    [" ".repeat(12), "Choose a password that is more than spaces."],
    ["too short", "Password must have 10 to 200 characters, but has 9."],
  ])("refuse the password %j at sign-up, and open no account", async (password, error) => {
    expect(await post("/signup", { email: "new@example.com", password })).toMatchObject({ status: 400, error });
    expect(await service.accounts.findByEmail("new@example.com" as Email)).toBeUndefined();
  });

  it("show the costs before the sign-up, and keep the requested page from form to form", async () => {
    const query = "prompt=a+lake";
    const { text } = await visit(`/login?ended=1&${query}`);
    expect(text).toContain("You were logged out. Your prompt is kept: log in to go on.");
    for (const path of ["/signup", "/password/forgot"]) {
      expect(text).toContain(`href="${path}?${query}"`);
      expect((await visit(`${path}?${query}`)).text).toContain('name="next" value="/works?prompt=a+lake"');
    }
    expect((await visit("/signup")).text).toContain("A panorama costs 4 credits in 1K, 6 in 2K or 10 in 4K.");
    expect((await visit("/login")).text).not.toContain("logged out");
  });

  it("leave out a requested page that makes a longer URL than proxies take", async () => {
    const next = `/works?${new URLSearchParams({ prompt: "湖".repeat(3_000) })}`; // 27 kB
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

  it("refuse the eleventh attempt of a minute from one address, also with the right password", async () => {
    for (let n = 1; n <= 10; n += 1) await login({ password: "a guess" }, from("203.0.113.1"));
    const { status, headers, error } = await login({}, from("203.0.113.1"));
    expect([status, headers.get("retry-after"), error]).toEqual([429, "60", expect.stringContaining("in 60 seconds")]);
    expect((await login({}, from("203.0.113.2"))).status).toBe(303);
  });

  it("answer 503 with a clear sentence while too many passwords wait, and open no account", async () => {
    const { hashPassword, verifyPassword } = service.secrets;
    const busy = async () => err({ kind: "hashing_busy" as const });
    Object.assign(service.secrets, { hashPassword: busy, verifyPassword: busy });
    const answers = [await login(), await post("/signup", { email: "busy@example.com", password: "another password" })];
    Object.assign(service.secrets, { hashPassword, verifyPassword });
    for (const { status, headers, error } of answers) {
      const sentence = "Too many people are logging in at this moment. Try again in a few seconds.";
      expect([status, headers.get("retry-after"), error]).toEqual([503, "5", sentence]);
    }
    expect(await service.accounts.findByEmail("busy@example.com" as Email)).toBeUndefined();
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
