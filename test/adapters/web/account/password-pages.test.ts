import { beforeEach, describe, expect, it } from "vitest";
import { apiKeys } from "../../../../application/accounts/api-keys.js";
import { operatedAccounts } from "../../../../application/operators/accounts.js";
import type { Email } from "../../../../domain/accounts/account.js";
import { credits } from "../../../../domain/credits/credits.js";
import { setUpService, startService, visiting } from "../../../support/visit.js";
import { PASSWORD, type Person } from "../../../support/web-service.js";

const NEW_PASSWORD = "a new password of mine";

describe("passwords by link", () => {
  const service = setUpService({}, true);
  let ann: Person;
  let people = 0;

  beforeEach(async () => {
    await service.clock.advance(3_600_000); // earlier attempts and links no longer count
    service.mail.messages.length = 0;
    people += 1;
    ann = await service.person(`ann${people}`);
  });

  const visit = (path: string, cookie = "") => visiting(service, cookie).get(path);
  const post = (path: string, fields: Record<string, string>) => visiting(service).post(path, fields);
  const login = (email: string, password: string) => post("/login", { email, password });
  const forgot = (email: string) => post("/password/forgot", { email });
  const reset = (token: string, password = NEW_PASSWORD) => post("/password/reset", { token, password });
  const lastToken = (): string => service.mail.messages.at(-1)?.token ?? "";

  it("set a new password once, and log in", async () => {
    await forgot(ann.email);
    const path = `/password/reset?token=${lastToken()}`;
    expect((await visit(path)).text).toContain(`For the account of <strong>${ann.email}</strong>.`);
    const error = "Password must have 10 to 200 characters, but has 9.";
    expect(await reset(lastToken(), "too short")).toMatchObject({ status: 400, error });
    const set = await reset(lastToken());
    expect([set.status, set.location]).toEqual([303, "/account/settings?done=password"]);
    const page = await visiting(service, set.cookie).get("/account/settings?done=password");
    expect(page.text).toContain("does not end your API keys (1) and your webhook endpoints (0)");
    for (const { status, text } of [await reset(lastToken()), await visit(path)])
      expect([status, text]).toEqual([410, expect.stringContaining("This link has expired")]);
  });

  it("get the same answer for known and unknown addresses, with a sentence for each way of sending", async () => {
    const [known, unknown] = [await forgot(ann.email), await forgot("nobody@example.com")];
    for (const { status, location } of [known, unknown])
      expect([status, location]).toEqual([303, "/password/forgot?sent=1"]);
    expect(known.text).toBe(unknown.text);
    expect(service.mail.messages.map(({ to }) => to)).toEqual([ann.email]);
    expect((await visit("/password/forgot?sent=1")).text).toContain("an e-mail with a link is on its way");
    const withoutMail = await visiting(await startService()).get("/password/forgot?sent=1");
    expect(withoutMail.text).toContain("please ask the operator for it");
    expect(await forgot("nobody")).toMatchObject({ status: 400, error: expect.stringContaining("e-mail") });
  });

  it("get the owner in while somebody else uses up the login attempts for the address", async () => {
    for (let n = 0; n < 10; n += 1) await login(ann.email, "a guess");
    expect((await login(ann.email, PASSWORD)).status).toBe(429);
    await forgot(ann.email);
    expect((await reset(lastToken())).status).toBe(303);
  });

  it("return to the page that required the login, in the same browser", async () => {
    const asked = await post("/password/forgot", { email: ann.email, next: "/works?prompt=a+lake%3B+at+dawn" });
    expect(asked.headers.get("set-cookie")).toMatch(/^next=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
    await apiKeys(service).endLastingAccess(ann.id);
    const resetIn = (cookie: string) =>
      visiting(service, cookie).post("/password/reset", { token: lastToken(), password: NEW_PASSWORD });
    expect((await resetIn(asked.cookie)).location).toBe("/works?prompt=a+lake%3B+at+dawn");
    await forgot(ann.email);
    expect((await resetIn("next=%2F%2Fevil.example")).location).toBe("/works");
  });

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
    expect(service.mail.messages.map(({ kind }) => kind)).toEqual(kinds);
    expect((await login(ann.email, PASSWORD)).status).toBe(303);
  });
});

it("an invitation opens an account with welcome credits, despite links that strangers have requested", async () => {
  const email = "ann@example.com" as Email;
  const service = await startService({ signUp: "invited", welcomeCredits: credits(12) });
  const { get, post } = visiting(service);
  for (let n = 0; n < 6; n += 1) await post("/password/forgot", { email });
  const { token } = (await operatedAccounts(service, { signUp: "invited" }).invite(email))._unsafeUnwrap();
  const page = (await get(`/password/reset?token=${token}`)).text;
  for (const part of [
    "<h1>Welcome</h1>",
    "<strong>ann@example.com</strong> is yours. You start with 12 credits.",
    'name="email" value="ann@example.com" autocomplete="username" readonly',
  ])
    expect(page).toContain(part);
  const set = () => post("/password/reset", { token, password: PASSWORD });
  expect((await set()).status).toBe(303);
  const again = await set();
  expect([again.status, again.text]).toEqual([410, expect.stringContaining("Ask for a new invitation")]);
  expect(await service.database.sql("select email, credits from account")).toEqual([{ email, credits: 12 }]);
});
