import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { accountSettings } from "../../../application/accounts/account-settings.js";
import { accounts } from "../../../application/accounts/accounts.js";
import { links, mailedLinks } from "../../../application/accounts/links.js";
import { logins, sessions } from "../../../application/accounts/sessions.js";
import { eraseClosedAccounts } from "../../../application/background/erase.js";
import type { Account, Email } from "../../../domain/accounts/account.js";
import { PASSWORD_LINK_SECONDS, PASSWORD_LINKS_MAX } from "../../../domain/accounts/password.js";
import type { SessionToken } from "../../../domain/accounts/session.js";
import { credits } from "../../../domain/credits/credits.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import { plainSecrets } from "../../support/fast-secrets.js";
import { overridden } from "../../support/overridden.js";
import { aWorld } from "../../support/world.js";

const anOpenDoor = () => ({ ...aWorld(), secrets: plainSecrets });
type Door = ReturnType<typeof anOpenDoor>;

const PASSWORD = "correct horse battery staple";
const NEXT = "another long passphrase";
const remoteAddress = "192.0.2.1";
const WRONG = err({ kind: "wrong_login" });
const EXPIRED = err({ kind: "link_expired" });
const own = { password: PASSWORD, remoteAddress };

let world: Door;
let ann: Account;
let ben: Account;
const open = async (name: string, amount = 0): Promise<Account> => {
  const beginning = amount === 0 ? {} : { credits: credits(amount) };
  const opened = await accounts(world).open({
    email: `${name}@example.com` as Email,
    password: PASSWORD,
    ...beginning,
  });
  return opened._unsafeUnwrap().account;
};
beforeEach(async () => {
  world = anOpenDoor();
  ann = await open("ann", 20);
  ben = await open("ben");
});

const login = async (account: Account, password = PASSWORD) =>
  logins(world).logIn({ ...own, email: account.email, password });
const session = async (account: Account) => (await login(account))._unsafeUnwrap();
const isOpen = async (token: SessionToken) => (await sessions(world).findSession(token)) !== undefined;
const messages = () => world.mail.messages.map(({ kind, to }) => [kind, to]);
const ask = (account: Account, email: string, differences = {}) =>
  mailedLinks(world).sendEmailLink(account, { ...own, email, ...differences });
const lastToken = () => world.mail.messages.at(-1)?.token ?? "";
const remove = (account: Account, differences = {}, door: Partial<Door> = {}) =>
  accountSettings({ ...world, ...door }).delete(account, { ...own, ...differences });

describe("changePassword", () => {
  it("ends all sessions, opens a new one, and notifies the address", async () => {
    const [before, bens] = [await session(ann), await session(ben)];
    const after = (await accountSettings(world).changePassword(ann, { ...own, newPassword: NEXT }))._unsafeUnwrap();
    expect(await Promise.all([before, after, bens].map(isOpen))).toEqual([false, true, true]);
    expect(await login(ann)).toEqual(WRONG);
    expect((await login(ann, NEXT)).isOk()).toBe(true);
    expect(messages()).toEqual([["password_changed", ann.email]]);
  });

  it("refuses a wrong or weak password and a busy hasher, without changes", async () => {
    const token = await session(ann);
    const change = (differences: object, door = {}) =>
      accountSettings({ ...world, ...door }).changePassword(ann, { ...own, newPassword: NEXT, ...differences });
    expect(await change({ password: "wrong" })).toEqual(WRONG);
    expect((await change({ newPassword: "short" }))._unsafeUnwrapErr()).toMatchObject({ kind: "invalid_request" });
    const busy = err({ kind: "hashing_busy" as const });
    expect(await change({}, { secrets: { ...plainSecrets, hashPassword: async () => busy } })).toEqual(busy);
    // A link has replaced the password between the proof and the change.
    const accounts = Object.assign(Object.create(world.accounts), { replacePassword: async () => false });
    expect(await change({}, { accounts })).toEqual(WRONG);
    // The address belongs to another account meanwhile, whose password is given.
    const moved = accountSettings(world).changePassword({ ...ann, email: ben.email }, { ...own, newPassword: NEXT });
    expect(await moved).toEqual(WRONG);
    expect([await isOpen(token), messages(), (await login(ann)).isOk()]).toEqual([true, [], true]);
  });

  it("opens no session if the password is changed again meanwhile", async () => {
    const sessions = overridden(world.sessions, { insert: async () => false });
    expect(await accountSettings({ ...world, sessions }).changePassword(ann, { ...own, newPassword: NEXT })).toEqual(
      WRONG,
    );
  });

  it("counts as login attempts, and reports refusals", async () => {
    const { limit } = PANORAMA_POLICY.rates.login;
    for (let n = 0; n < limit; n += 1) {
      expect(
        await accountSettings(world).changePassword(ann, { ...own, password: "wrong", newPassword: NEXT }),
      ).toEqual(WRONG);
    }
    for (const refused of [
      await login(ann),
      await accountSettings(world).changePassword(ann, { ...own, newPassword: NEXT }),
    ]) {
      expect(refused._unsafeUnwrapErr()).toMatchObject({ kind: "rate_limited" });
    }
    const reasons = world.reporter.events.flatMap((event) => (event.kind === "login_failed" ? [event.reason] : []));
    expect(reasons).toEqual([...Array(limit).fill("wrong_password"), "rate_limited", "rate_limited"]);
  });
});

describe("the change of an e-mail address", () => {
  it("takes effect with the link, keeps the sessions, and notifies the old address", async () => {
    const token = await session(ann);
    expect(await ask(ann, " Ann@New.example.com")).toEqual(ok(undefined));
    expect(messages()).toEqual([["confirm_email", "ann@new.example.com"]]);
    expect((await world.accounts.find(ann.id))?.email).toBe(ann.email);
    expect(await links(world).checkEmailLink(ann.id, lastToken())).toBe("ann@new.example.com");
    const link = lastToken();
    expect(await mailedLinks(world).confirmEmail(ann.id, link)).toEqual(ok(undefined));
    expect(messages().at(-1)).toEqual(["email_changed", ann.email]);
    expect((await sessions(world).findSession(token))?.account.email).toBe("ann@new.example.com");
    expect(await login(ann)).toEqual(WRONG);
    expect(await mailedLinks(world).confirmEmail(ann.id, link)).toEqual(EXPIRED);
  });

  it("refuses a wrong password, an invalid address and the same address, and sends nothing", async () => {
    expect(await ask(ann, "new@example.com", { password: "wrong" })).toEqual(WRONG);
    expect(await ask(ann, ann.email.toUpperCase())).toEqual(err({ kind: "same_email" }));
    expect((await ask(ann, "nowhere"))._unsafeUnwrapErr()).toMatchObject({ kind: "invalid_request", field: "email" });
    expect(messages()).toEqual([]);
  });

  it("hides whether the address has an account, except from its owner", async () => {
    const [free, taken] = [await ask(ann, "free@example.com"), await ask(ann, ben.email)];
    expect(taken).toEqual(free);
    expect(messages()).toEqual([
      ["confirm_email", "free@example.com"],
      ["email_in_use", ben.email],
    ]);
    for (let n = 0; n < 3; n += 1) await ask(ann, "free@example.com");
    await world.clock.advance(60_000);
    for (let n = 0; n < 9; n += 1) expect(await ask(ann, n % 2 ? ben.email : "free@example.com")).toEqual(free);
    const to = (address: string) => messages().filter(([, other]) => other === address).length;
    expect([to("free@example.com"), to(ben.email)]).toEqual([PASSWORD_LINKS_MAX, PASSWORD_LINKS_MAX]);
  });

  it("counts as an e-mail of its network, of which there are ten a minute", async () => {
    const send = mailedLinks(world).sendPasswordLink;
    for (let n = 0; n < 10; n += 1) await send({ email: `new-${n}@example.com`, remoteAddress, purpose: "sign_up" });
    expect((await ask(ann, "new@example.com"))._unsafeUnwrapErr()).toMatchObject({ kind: "rate_limited", limit: 10 });
    expect(messages()).toHaveLength(10);
    expect(await ask(ann, "new@example.com", { remoteAddress: "192.0.2.2" })).toEqual(ok(undefined));
  });

  it("looks up no text that cannot be a token", async () => {
    const find = () => Promise.reject(new Error("it was looked up"));
    const unread = overridden(world.links, { find, confirmEmail: find });
    expect(await links({ ...world, links: unread }).checkEmailLink(ann.id, "no token")).toBeUndefined();
    expect(await mailedLinks({ ...world, links: unread }).confirmEmail(ann.id, "no token")).toEqual(EXPIRED);
  });

  it("needs a link of this account; another account's link changes nothing", async () => {
    await ask(ben, "bens-mailbox@example.com");
    expect(await mailedLinks(world).confirmEmail(ann.id, lastToken())).toEqual(EXPIRED);
    expect(await links(world).checkEmailLink(ann.id, lastToken())).toBe(undefined);
    expect(await links(world).checkPasswordLink(lastToken())).toBe(undefined);
    expect((await world.accounts.find(ann.id))?.email).toBe(ann.email);
  });

  it("fails after an hour, and if the address is taken meanwhile", async () => {
    await ask(ann, "new@example.com");
    const late = lastToken();
    await world.clock.advance(PASSWORD_LINK_SECONDS * 1000);
    expect(await mailedLinks(world).confirmEmail(ann.id, late)).toEqual(EXPIRED);
    await ask(ann, "new@example.com");
    await open("new");
    expect(await mailedLinks(world).confirmEmail(ann.id, lastToken())).toEqual(
      err({ kind: "email_taken", email: "new@example.com" }),
    );
  });
});

describe("deleteAccount", () => {
  it("closes the account with the password, ends its sessions, frees the address, and writes to it", async () => {
    const token = await session(ann);
    expect(await remove(ann, { password: "wrong" })).toEqual(WRONG);
    expect(await isOpen(token)).toBe(true);
    expect(await remove(ann)).toEqual(ok(undefined));
    expect(await isOpen(token)).toBe(false);
    expect(messages()).toEqual([["account_deleted", ann.email]]);
    expect(await world.operators.account(ann.id)).toMatchObject({
      standing: { credits: 0 },
      closedAt: world.clock.now(),
    });
    expect(await world.operators.closedNotErased(9)).toEqual([]);
    expect((await open("ann")).id).not.toBe(ann.id);
  });

  it("refuses an account with a panorama in processing", async () => {
    (await world.createPanorama(ann.id, aCreationRequest()))._unsafeUnwrap();
    expect(await remove(ann)).toEqual(err({ kind: "tasks_active", activeTasks: 1 }));
    expect((await world.accounts.find(ann.id))?.email).toBe(ann.email);
    const accounts = overridden(world.accounts, { exists: async () => false });
    await expect(remove(ann, {}, { accounts })).rejects.toThrow(`There is no account ${ann.id}.`);
  });

  it("completes an interrupted deletion in the background, independently per account", async () => {
    const task = (await world.createPanorama(ann.id, aCreationRequest({ prompt: "my garden" })))._unsafeUnwrap().task;
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
    const operators = Object.assign(Object.create(world.operators), {
      eraseTasks: () => Promise.reject(new Error("x")),
    });
    for (const account of [ann, ben]) await expect(remove(account, {}, { operators })).rejects.toThrow("x");
    expect(await world.operators.closedNotErased(9)).toEqual([ann.id, ben.id]);

    const failsForAnn = Object.assign(Object.create(world.operators), {
      eraseTasks: (...given: Parameters<typeof world.operators.eraseTasks>) =>
        given[0] === ann.id ? Promise.reject(new Error("y")) : world.operators.eraseTasks(...given),
    });
    await expect(eraseClosedAccounts({ ...world, operators: failsForAnn })).rejects.toThrow("y");
    expect(await world.operators.closedNotErased(9)).toEqual([ann.id]);
    expect(await eraseClosedAccounts(world)).toBe(1);
    const erased = await world.operators.task(task.id);
    expect([erased?.isDeleted, erased?.task.request.prompt]).toEqual([true, undefined]);
    expect(await eraseClosedAccounts(world)).toBe(0);
  });
});
