import { describe, expect, it, onTestFinished } from "vitest";
import { ManualPayments } from "../../../adapters/payments/manual-payments.js";
import { invite } from "../../../application/operators/invite.js";
import type { Email } from "../../../domain/accounts/account.js";
import { INVITATION_SECONDS } from "../../../domain/accounts/password.js";
import { credits } from "../../../domain/credits/credits.js";
import { panoramaPolicy } from "../../../domain/panorama-policy.js";
import { PASSWORD, WebService } from "../../support/web-service.js";

type Settings = NonNullable<Parameters<typeof WebService.start>[2]>;

const start = async (settings: Settings, sendsMail = false): Promise<WebService> => {
  const service = await WebService.start(new ManualPayments(), sendsMail, settings);
  onTestFinished(async () => {
    await service.end();
    expect(service.failures).toEqual([]);
  });
  return service;
};

const post = (service: WebService, path: string, fields: Record<string, string>, cookie = "") =>
  fetch(service.url + path, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams(fields),
    headers: { origin: service.url, cookie },
  });
const pageOf = async (service: WebService, path: string, cookie = "") =>
  (await fetch(service.url + path, { headers: { cookie } })).text();
const signUp = (service: WebService, email: string) => post(service, "/signup", { email, password: PASSWORD });
const reset = (service: WebService, token: string) => post(service, "/password/reset", { token, password: PASSWORD });
const balances = async ({ database }: WebService) =>
  (await database.sql("select email, credits from account")).map(({ email, credits }) => `${email} ${credits}`);
const entries = ({ database }: WebService) => database.sql("select kind, reason, credits from ledger_entry");

describe("sign-up with welcome credits", () => {
  const settings = { welcomeCredits: credits(12) };

  it("grants them in one ledger entry to one of eight concurrent sign-ups with an address", async () => {
    const service = await start(settings);
    const answers = await Promise.all(Array.from({ length: 8 }, () => signUp(service, "ann@example.com")));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(303));
    await signUp(service, "ann@example.com");
    expect(await balances(service)).toEqual(["ann@example.com 12"]);
    expect(await entries(service)).toEqual([{ kind: "adjustment", reason: "Welcome credits", credits: 12 }]);

    await service.clock.advance(60_000); // the logins that followed the sign-ups no longer count
    const login = await post(service, "/login", { email: "ann@example.com", password: PASSWORD });
    const cookie = login.headers.get("set-cookie")?.split(";")[0];
    const account = await pageOf(service, "/account", cookie);
    expect(account).toContain('<p class="figure">12</p>');
    expect(account).toContain("Welcome credits");
    const keys = await pageOf(service, "/account/keys", cookie);
    expect(keys).toContain('You can create API keys after your first order is paid. <a href="/account#buy">');
  });

  it("grants them once to an address that is confirmed by one of several links, used concurrently", async () => {
    const service = await start(settings, true);
    for (let n = 0; n < 3; n += 1) await post(service, "/signup", { email: "ann@example.com" });
    expect(await balances(service)).toEqual([]); // nothing before the address is confirmed
    const tokens = service.mail.letters.map(({ token = "" }) => token);
    expect(tokens).toHaveLength(3);
    const answers = await Promise.all([...tokens, ...tokens].map((token) => reset(service, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410, 410, 410]);
    expect(await balances(service)).toEqual(["ann@example.com 12"]);

    await post(service, "/password/forgot", { email: "ann@example.com" });
    expect((await reset(service, service.mail.letters.at(-1)?.token ?? "")).status).toBe(303);
    expect(await balances(service)).toEqual(["ann@example.com 12"]);
    expect(await entries(service)).toHaveLength(1);
  });

  it("grants none to an account that the operator opens, and none by default", async () => {
    const service = await start(settings);
    await service.person("bob", 20);
    expect(await balances(service)).toEqual(["bob@example.com 20"]);
    const usual = await start({});
    await signUp(usual, "ann@example.com");
    expect(await balances(usual)).toEqual(["ann@example.com 0"]);
    expect(await entries(usual)).toEqual([]);
  });
});

describe.each(["invited", "closed"] as const)("sign-up that is %s", (mode) => {
  const sentence = {
    invited: "Accounts of this service are opened by invitation. Ask the operator for a link.",
    closed: "This service opens no new accounts at the moment.",
  }[mode];

  it.each([false, true])("shows why there is no form, and refuses one, with a mail server: %s", async (sendsMail) => {
    const service = await start({ signUp: mode, welcomeCredits: credits(12) }, sendsMail);
    const page = await pageOf(service, "/signup");
    expect(page).toContain(sentence);
    expect(page).not.toContain('<form method="post" action="/signup"');
    const landing = await pageOf(service, "/");
    expect(landing.indexOf(`${sentence} <a href="/login">Log in</a>`)).toBeLessThan(landing.indexOf('id="hero-form"'));
    expect(landing).toContain(`${sentence} <a href="/login">Log in</a>`);
    expect(landing).toContain('action="/works" data-visitor>');
    expect(landing).not.toContain("/signup");
    // A link of before may lead here; members go on with their prompt.
    const next = "/works?prompt=a+lake";
    expect(await pageOf(service, `/signup?${new URLSearchParams({ next })}`)).toContain(
      'href="/login?prompt=a+lake">Log in</a>',
    );
    expect(await pageOf(service, "/login")).not.toContain("No account yet?");
    const refused = await signUp(service, "ann@example.com");
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining(sentence)]);
    expect(await balances(service)).toEqual([]);
    expect(service.mail.letters).toEqual([]);
  });
});

describe("an invitation", () => {
  const email = "ann@example.com" as Email;

  it("opens an account with welcome credits, once, until it expires", async () => {
    const service = await start({ signUp: "invited", welcomeCredits: credits(12) });
    const invited = invite(service, { signUp: "invited" });
    const { token, expiresAt } = (await invited(email))._unsafeUnwrap();
    expect(expiresAt.getTime() - service.clock.now().getTime()).toBe(7 * 24 * 3_600_000);
    await service.clock.advance(INVITATION_SECONDS * 1000 - 1);
    const page = await pageOf(service, `/password/reset?token=${token}`);
    expect(page).toContain("<h1>Welcome</h1>");
    expect(page).toContain("<strong>ann@example.com</strong> is yours. You start with 12 credits.");
    expect(page).toContain('name="email" value="ann@example.com" autocomplete="username" readonly');
    const answers = await Promise.all([1, 2, 3].map(() => reset(service, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410]);
    expect(await balances(service)).toEqual(["ann@example.com 12"]);
    expect((await invited(email))._unsafeUnwrapErr()).toEqual({ kind: "email_taken", email });

    const late = (await invited("bob@example.com" as Email))._unsafeUnwrap();
    await service.clock.advance(INVITATION_SECONDS * 1000);
    const gone = await reset(service, late.token);
    expect([gone.status, await gone.text()]).toEqual([410, expect.stringContaining("Ask for a new invitation")]);
    expect(await balances(service)).toHaveLength(1);
  });

  it("works despite links that strangers have requested", async () => {
    const service = await start({ signUp: "invited" });
    for (let n = 0; n < 6; n += 1) await post(service, "/password/forgot", { email });
    const { token } = (await invite(service, { signUp: "invited" })(email))._unsafeUnwrap();
    expect((await reset(service, token)).status).toBe(303);
  });

  it("opens no account after sign-up is closed, but links still set passwords of accounts", async () => {
    const service = await start({ signUp: "closed" });
    expect((await invite(service, { signUp: "closed" })(email))._unsafeUnwrapErr()).toEqual({
      kind: "sign_up_refused",
      mode: "closed",
    });
    const { token } = (await invite(service)(email))._unsafeUnwrap(); // made before
    expect((await reset(service, token)).status).toBe(410);
    expect(await balances(service)).toEqual([]);
    await service.person("bob");
    await post(service, "/password/forgot", { email: "bob@example.com" });
    expect((await reset(service, service.mail.letters.at(-1)?.token ?? "")).status).toBe(303);
  });
});

describe("pages with other prices and packs", () => {
  it("show and apply them everywhere", async () => {
    const policy = panoramaPolicy({
      prices: { "1k": 3, "2k": 7, "4k": 21 },
      packs: [{ credits: credits(50), priceCents: 450, currency: "EUR" }],
    });
    const service = await start({ policy });
    const ann = await service.person("ann", 20);
    const login = await post(service, "/login", { email: ann.email, password: PASSWORD });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    for (const price of ["3 credits", "7 credits", "21 credits"]) {
      expect(await pageOf(service, "/")).toContain(`<span>${price}</span>`);
    }
    expect(await pageOf(service, "/mcp")).toContain("3 credits in 1K, 7 in 2K or 21 in 4K");
    const works = await pageOf(service, "/works", cookie);
    for (const label of ["1K · 3 credits", "2K · 7 credits", "4K · 21 credits"]) expect(works).toContain(label);
    const account = await pageOf(service, "/account", cookie);
    expect(account).toContain("<strong>50 credits</strong><small>€4.50</small>");
    expect(account).not.toContain("100 credits");

    const token = /name="form_token" value="([^"]+)"/.exec(account)?.[1] ?? "";
    const order = (amount: string) => post(service, "/account/orders", { form_token: token, credits: amount }, cookie);
    expect((await order("100")).status).toBe(400);
    expect((await order("50")).headers.get("location")).toMatch(/^\/account\/orders\/ord_\w+\?placed=1$/);
    const create = async (resolution: string) => {
      const form = new FormData();
      for (const [name, value] of Object.entries({ form_token: token, resolution, prompt: "a lake" }))
        form.set(name, value);
      const headers = { origin: service.url, cookie };
      return fetch(`${service.url}/works`, { method: "POST", redirect: "manual", body: form, headers });
    };
    const dear = await create("4k");
    expect([dear.status, await dear.text()]).toEqual([
      402,
      expect.stringContaining("This costs 21 credits, but you have 20."),
    ]);
    expect((await create("2k")).status).toBe(303);
    expect(await balances(service)).toEqual(["ann@example.com 13"]);
  });
});
