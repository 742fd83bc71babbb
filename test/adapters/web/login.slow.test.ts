import { createHash } from "node:crypto";
import { err } from "neverthrow";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Email } from "../../../domain/accounts/account.js";
import { SESSION_SECONDS } from "../../../domain/accounts/session.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

describe("login and sessions", () => {
  let service: WebService;
  let ann: Person;

  beforeAll(async () => {
    service = await WebService.start();
    ann = await service.person("ann");
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });
  beforeEach(() => service.clock.advance(60_000)); // attempts of the previous test no longer count

  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(service.url + path, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(fields),
      headers: { origin: service.url, ...headers },
    });
  const login = (fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    post("/login", { email: ann.email, password: PASSWORD, ...fields }, headers);
  const cookieOf = (response: Response) => response.headers.get("set-cookie")?.split(";")[0] ?? "";
  const visit = (path: string, cookie: string) =>
    fetch(service.url + path, { redirect: "manual", headers: { cookie } });

  it("set a session cookie that scripts and other sites cannot read, and store only its digest", async () => {
    const answer = await login();
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/works"]);
    expect(answer.headers.get("set-cookie")).toMatch(
      /^session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect((await visit("/works", cookieOf(answer))).status).toBe(200);
    const token = cookieOf(answer).slice("session=".length);
    expect(JSON.stringify(await service.database.sql("select * from session"))).not.toContain(token);
  });

  it("end a session after 30 days", async () => {
    const cookie = cookieOf(await login());
    await service.clock.advance(SESSION_SECONDS * 1000 - 1);
    expect((await visit("/works", cookie)).status).toBe(200);
    await service.clock.advance(1);
    expect((await visit("/works", cookie)).headers.get("location")).toBe("/login?next=%2Fworks&ended=1");
  });

  it("give the same answer to a wrong password and an unknown address", async () => {
    const wrong = await login({ password: "wrong password" });
    const unknown = await login({ email: "nobody@example.com", password: "wrong password" });
    const texts = [await wrong.text(), await unknown.text()].map((text) => text.replace(/value="[^"]*@[^"]*"/, ""));
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(texts[0]).toBe(texts[1]);
    expect(wrong.headers.get("set-cookie")).toBeNull();
  });

  it("log in at sign-up and open the requested page; a taken address changes nothing", async () => {
    const next = "/works?prompt=a+quiet+lake";
    const taken = await post("/signup", { email: ann.email, password: "another password", next });
    const fresh = await post("/signup", { email: "fresh@example.com", password: "another password", next });
    expect([fresh.status, fresh.headers.get("location")]).toEqual([303, next]);
    expect(await (await visit(next, cookieOf(fresh))).text()).toContain(">a quiet lake</textarea>");
    expect([taken.status, taken.headers.get("location")]).toEqual([303, "/login?new=1&prompt=a+quiet+lake"]);
    expect(taken.headers.get("set-cookie")).toBeNull();
    expect((await login({ password: "another password" })).status).toBe(401);
    expect((await login()).status).toBe(303);
    expect((await login({ email: "fresh@example.com", password: "another password" })).status).toBe(303);
  });

  it("count a sign-up and the login after it as two attempts, for a taken and for a new address", async () => {
    const from = { "x-forwarded-for": "203.0.113.9" };
    for (const email of [ann.email, "counted@example.com"]) {
      const signUp = () => post("/signup", { email, password: "another password" }, from);
      for (let n = 1; n <= 5; n += 1) expect((await signUp()).status).toBe(303);
      expect((await signUp()).status).toBe(429);
    }
  });

  it("refuse a password of spaces", async () => {
    const answer = await post("/signup", { email: "blank@example.com", password: " ".repeat(12) });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining("Choose a password that is more than spaces."),
    ]);
    expect(await service.accounts.findByEmail("blank@example.com" as Email)).toBeUndefined();
  });

  it("show the costs before the sign-up, and keep the requested page from form to form", async () => {
    const page = async (path: string) => (await visit(path, "")).text();
    const query = "prompt=a+lake";
    const login = await page(`/login?ended=1&${query}`);
    expect(login).toContain("You were logged out. Your prompt is kept: log in to go on.");
    for (const path of ["/signup", "/password/forgot"]) {
      expect(login).toContain(`href="${path}?${query}"`);
      expect(await page(`${path}?${query}`)).toContain('name="next" value="/works?prompt=a+lake"');
    }
    expect(await page("/signup")).toContain("A panorama costs 4 credits in 1K, 6 in 2K or 10 in 4K.");
    expect(await page("/login")).not.toContain("logged out");
  });

  it("leave out a requested page that makes a longer URL than proxies take", async () => {
    const next = `/works?${new URLSearchParams({ prompt: "湖".repeat(3_000) })}`; // 27 kB
    const answers = [
      await visit(next, ""),
      await post("/signup", { email: "long@example.com", password: "correct horse battery", next }),
      await post("/password/forgot", { email: ann.email, next }),
      await login({ next }),
    ];
    for (const { status, headers } of answers) {
      const sizes = ["location", "set-cookie"].map((name) => headers.get(name)?.length ?? 0);
      expect([status, Math.max(...sizes) < 8_000]).toEqual([303, true]);
    }
  });

  it("refuse a password that is too short and name the limit", async () => {
    const answer = await post("/signup", { email: "short@example.com", password: "too short" });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining("Password must have 10 to 200"),
    ]);
  });

  const from = (address: string) => ({ "x-forwarded-for": address });

  it("limit password attempts for one account to ten a minute from one address and 100 from all", async () => {
    for (let address = 1; address <= 10; address += 1) {
      for (let n = 1; n <= 10; n += 1) {
        expect((await login({ password: "a guess" }, from(`203.0.113.${address}`))).status).toBe(401);
      }
      const refused = await login({}, from(`203.0.113.${address}`));
      expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining("Try again in 60 seconds")]);
      expect(refused.headers.get("retry-after")).toBe("60");
    }
    expect((await login({}, from("203.0.113.99"))).status).toBe(429);
    await service.clock.advance(60_000);
    expect((await login()).status).toBe(303);
  });

  it("limit password attempts from one client address to 60 a minute for all accounts together", async () => {
    for (let n = 1; n <= 60; n += 1) {
      expect((await login({ email: `nobody-${n}@example.com` }, from("203.0.113.7"))).status).toBe(401);
    }
    expect((await login({}, from("203.0.113.7"))).status).toBe(429);
    expect((await login({}, from("203.0.113.8"))).status).toBe(303);
  });

  it("admit the owner of an account while somebody else sends attempts for it from an exhausted network", async () => {
    for (let n = 1; n <= 300; n += 1) {
      await login({ password: "a guess" }, from(`2001:db8:1:2::${n}`)); // one network of IPv6
    }
    expect((await login({}, from("2001:db8:1:2::ffff"))).status).toBe(429);
    for (let n = 1; n <= 10; n += 1) expect((await login({}, from("203.0.113.8"))).status).toBe(303);
  });

  it("refuse a password of more than 200 characters as wrong, without hashing it", async () => {
    let hashed = 0;
    const { verifyPassword } = service.secrets;
    service.secrets.verifyPassword = (...given) => {
      hashed += 1;
      return verifyPassword.apply(service.secrets, given);
    };
    onTestFinished(() => void Object.assign(service.secrets, { verifyPassword }));
    expect((await login({ password: "x".repeat(201) })).status).toBe(401);
    expect((await login({ email: "nobody@example.com", password: "x".repeat(201) })).status).toBe(401);
    expect(hashed).toBe(0);
    expect((await login({ password: "x".repeat(200) })).status).toBe(401);
    expect(hashed).toBe(1);
  });

  it("answer 503 with a clear sentence while too many passwords wait, and open no account", async () => {
    const { hashPassword, verifyPassword } = service.secrets;
    const busy = async () => err({ kind: "hashing_busy" as const });
    Object.assign(service.secrets, { hashPassword: busy, verifyPassword: busy });
    const answers = [await login(), await post("/signup", { email: "busy@example.com", password: "another password" })];
    Object.assign(service.secrets, { hashPassword, verifyPassword });
    for (const answer of answers) {
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await answer.text()).toContain(
        "Too many people are logging in at this moment. Try again in a few seconds.",
      );
    }
    expect(await service.accounts.findByEmail("busy@example.com" as Email)).toBeUndefined();
    expect((await login()).status).toBe(303);
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
    const request = fetch(`${service.url}/login`, {
      method: "POST",
      body: new URLSearchParams({ email: ann.email, password: PASSWORD }),
      headers: { origin: service.url },
      signal: client.signal,
    });
    await expect.poll(() => signals.length).toBe(1);
    expect(signals[0]?.aborted).toBe(false);
    client.abort();
    await expect(request).rejects.toThrow();
    await expect.poll(() => signals[0]?.aborted).toBe(true);
  });

  it("accept forms only from pages of the service", async () => {
    expect((await login({}, { origin: "https://evil.example" })).status).toBe(403);
    expect((await login({}, { origin: "null" })).status).toBe(403);
    const cookie = cookieOf(await login());
    const order = { credits: "100" };
    expect((await post("/account/orders", order, { cookie })).status).toBe(403);
    expect((await post("/account/orders", { ...order, form_token: "0".repeat(64) }, { cookie })).status).toBe(403);
    const otherCookie = cookieOf(await login());
    const otherToken = /name="form_token" value="(\w+)"/.exec(await (await visit("/account", otherCookie)).text())?.[1];
    expect((await post("/account/orders", { ...order, form_token: otherToken ?? "" }, { cookie })).status).toBe(403);
    expect(await service.orders.list(ann.id, 20, undefined)).toHaveLength(1);
  });

  it("send every page with a policy that blocks foreign and inline scripts", async () => {
    const cookie = cookieOf(await login());
    for (const path of [
      "/",
      "/gallery",
      "/login",
      "/signup",
      "/password/forgot",
      "/works",
      "/account",
      "/docs",
      "/p/abcdefghijklmnop",
    ]) {
      const page = await visit(path, path === "/works" || path === "/account" ? cookie : "");
      const policy = page.headers.get("content-security-policy") ?? "";
      const text = await page.text();
      // The one script inside a page chooses its colours before it is shown (client/theme.ts).
      const [inline, script] = /<script>(.*?)<\/script>/s.exec(text) ?? ["", undefined];
      const digest = script === undefined ? "" : ` 'sha256-${createHash("sha256").update(script).digest("base64")}'`;
      expect(policy).toContain(`default-src 'none'; script-src 'self'${digest}; style-src 'self'`);
      expect(policy).not.toContain("unsafe");
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
      expect(text.replace(inline, "")).not.toMatch(/<script(?![^>]* src="\/static\/)| on\w+="|style="/);
    }
  });
});
