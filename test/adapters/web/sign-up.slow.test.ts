import { describe, expect, it } from "vitest";
import { invite } from "../../../application/operators/invite.js";
import type { Email } from "../../../domain/accounts/account.js";
import { INVITATION_SECONDS } from "../../../domain/accounts/password.js";
import { credits } from "../../../domain/credits/credits.js";
import { panoramaPolicy } from "../../../domain/panorama-policy.js";
import { logIn, startService, visiting } from "../../support/visit.js";
import { PASSWORD, type WebService } from "../../support/web-service.js";

const post = (service: WebService, path: string, fields: Record<string, string>) =>
  visiting(service).post(path, fields);
const read = async (service: WebService, path: string) => (await visiting(service).get(path)).text;
const signUp = (service: WebService, email: string) => post(service, "/signup", { email, password: PASSWORD });
const reset = (service: WebService, token: string) => post(service, "/password/reset", { token, password: PASSWORD });
const balances = async ({ database }: WebService) =>
  (await database.sql("select email, credits from account")).map(({ email, credits }) => `${email} ${credits}`);
const entries = ({ database }: WebService) => database.sql("select kind, reason, credits from ledger_entry");
const email = "ann@example.com" as Email;
const welcome = { welcomeCredits: credits(12) };

describe("sign-up with welcome credits", () => {
  it("grants them in one ledger entry to one of eight concurrent sign-ups with an address", async () => {
    const service = await startService(welcome);
    const answers = await Promise.all(Array.from({ length: 8 }, () => signUp(service, email)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(303));
    await signUp(service, email);
    expect(await balances(service)).toEqual(["ann@example.com 12"]);
    expect(await entries(service)).toEqual([{ kind: "adjustment", reason: "Welcome credits", credits: 12 }]);

    await service.clock.advance(60_000); // the logins that followed the sign-ups no longer count
    const member = await logIn(service, { email });
    const account = await member.read("/account");
    expect(account).toContain('<p class="figure">12</p>');
    expect(account).toContain("Welcome credits");
    const sentence = 'You can create API keys after your first order is paid. <a href="/account#buy">';
    expect(await member.read("/account/keys")).toContain(sentence);
  });

  it("grants them once to an address that is confirmed by one of several links, used concurrently", async () => {
    const service = await startService(welcome, true);
    for (let n = 0; n < 3; n += 1) await post(service, "/signup", { email });
    expect(await balances(service)).toEqual([]); // nothing before the address is confirmed
    const tokens = service.mail.letters.map(({ token = "" }) => token);
    const answers = await Promise.all([...tokens, ...tokens].map((token) => reset(service, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410, 410, 410]);
    await post(service, "/password/forgot", { email });
    expect((await reset(service, service.mail.letters.at(-1)?.token ?? "")).status).toBe(303);
    expect(await balances(service)).toEqual(["ann@example.com 12"]);
    expect(await entries(service)).toHaveLength(1);
  });

  it("grants none to an account that the operator opens, and none by default", async () => {
    const service = await startService(welcome);
    await service.person("bob", 20);
    expect(await balances(service)).toEqual(["bob@example.com 20"]);
    const usual = await startService();
    await signUp(usual, email);
    expect([await balances(usual), await entries(usual)]).toEqual([["ann@example.com 0"], []]);
  });
});

describe.each([
  ["invited", "Accounts of this service are opened by invitation. Ask the operator for a link."],
  ["closed", "This service opens no new accounts at the moment."],
] as const)("sign-up that is %s", (mode, sentence) => {
  it.each([false, true])("shows why there is no form, and refuses one, with a mail server: %s", async (sendsMail) => {
    const service = await startService({ signUp: mode, ...welcome }, sendsMail);
    const page = await read(service, "/signup");
    expect(page).toContain(sentence);
    expect(page).not.toContain('<form method="post" action="/signup"');
    const landing = await read(service, "/");
    expect(landing).toMatch(new RegExp(`${sentence} <a href="/login">Log in</a>.*id="hero-form"`, "s"));
    expect(landing).toContain('action="/works" data-visitor>');
    expect(landing).not.toContain("/signup");
    // A link of before may lead here; members go on with their prompt.
    const next = new URLSearchParams({ next: "/works?prompt=a+lake" });
    expect(await read(service, `/signup?${next}`)).toContain('href="/login?prompt=a+lake">Log in</a>');
    expect(await read(service, "/login")).not.toContain("No account yet?");
    const refused = await signUp(service, email);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(sentence)]);
    expect([await balances(service), service.mail.letters]).toEqual([[], []]);
  });
});

describe("an invitation", () => {
  it("opens an account with welcome credits, once, until it expires", async () => {
    const service = await startService({ signUp: "invited", ...welcome });
    const invited = invite(service, { signUp: "invited" });
    const { token } = (await invited(email))._unsafeUnwrap();
    await service.clock.advance(INVITATION_SECONDS * 1000 - 1);
    const page = await read(service, `/password/reset?token=${token}`);
    expect(page).toContain("<h1>Welcome</h1>");
    expect(page).toContain("<strong>ann@example.com</strong> is yours. You start with 12 credits.");
    expect(page).toContain('name="email" value="ann@example.com" autocomplete="username" readonly');
    const answers = await Promise.all([1, 2, 3].map(() => reset(service, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410]);
    expect(await balances(service)).toEqual(["ann@example.com 12"]);
    expect((await invited(email))._unsafeUnwrapErr()).toEqual({ kind: "email_taken", email });

    const late = (await invited("bob@example.com" as Email))._unsafeUnwrap();
    expect(late.expiresAt.getTime() - service.clock.now().getTime()).toBe(7 * 24 * 3_600_000);
    await service.clock.advance(INVITATION_SECONDS * 1000);
    const gone = await reset(service, late.token);
    expect([gone.status, gone.text]).toEqual([410, expect.stringContaining("Ask for a new invitation")]);
    expect(await balances(service)).toHaveLength(1);
  });

  it("works despite links that strangers have requested", async () => {
    const service = await startService({ signUp: "invited" });
    for (let n = 0; n < 6; n += 1) await post(service, "/password/forgot", { email });
    const { token } = (await invite(service, { signUp: "invited" })(email))._unsafeUnwrap();
    expect((await reset(service, token)).status).toBe(303);
  });

  it("opens no account after sign-up is closed, but links still set passwords of accounts", async () => {
    const service = await startService({ signUp: "closed" });
    const refused = { kind: "sign_up_refused", mode: "closed" };
    expect((await invite(service, { signUp: "closed" })(email))._unsafeUnwrapErr()).toEqual(refused);
    const { token } = (await invite(service)(email))._unsafeUnwrap(); // made before
    expect((await reset(service, token)).status).toBe(410);
    expect(await balances(service)).toEqual([]);
    await service.person("bob");
    await post(service, "/password/forgot", { email: "bob@example.com" });
    expect((await reset(service, service.mail.letters.at(-1)?.token ?? "")).status).toBe(303);
  });
});

it("pages with other prices and packs show and apply them everywhere", async () => {
  const service = await startService({
    policy: panoramaPolicy({
      prices: { "1k": 3, "2k": 7, "4k": 21 },
      packs: [{ credits: credits(50), priceCents: 450, currency: "EUR" }],
    }),
  });
  const member = await logIn(service, await service.person("ann", 20));
  for (const price of ["3 credits", "7 credits", "21 credits"])
    expect(await read(service, "/")).toContain(`<span>${price}</span>`);
  expect(await read(service, "/mcp")).toContain("3 credits in 1K, 7 in 2K or 21 in 4K");
  const works = await member.read("/works");
  for (const label of ["1K · 3 credits", "2K · 7 credits", "4K · 21 credits"]) expect(works).toContain(label);
  const account = await member.read("/account");
  expect(account).toContain("<strong>50 credits</strong><small>€4.50</small>");
  expect(account).not.toContain("100 credits");
  expect((await member.post("/account/orders", { credits: "100" })).status).toBe(400);
  expect((await member.post("/account/orders", { credits: "50" })).status).toBe(303);
  const error = expect.stringContaining("This costs 21 credits, but you have 20.");
  expect(await member.create({ resolution: "4k", prompt: "a lake" })).toMatchObject({ status: 402, error });
  expect((await member.create({ resolution: "2k", prompt: "a lake" })).status).toBe(303);
  expect(await balances(service)).toEqual(["ann@example.com 13"]);
});
