import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { accounts } from "../../../application/accounts/accounts.js";
import type { Credentials } from "../../../application/accounts/check-credentials.js";
import { links, mailedLinks } from "../../../application/accounts/links.js";
import { logins, sessions } from "../../../application/accounts/sessions.js";
import type { LoginFailure } from "../../../application/ports/reporter.js";
import type { Secrets } from "../../../application/ports/secrets.js";
import type { Account, Email } from "../../../domain/accounts/account.js";
import {
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_LINK_SECONDS,
  type PasswordLinkToken,
} from "../../../domain/accounts/password.js";
import { SESSION_SECONDS, type SessionToken } from "../../../domain/accounts/session.js";
import { credits } from "../../../domain/credits/credits.js";
import { plainSecrets } from "../../support/fast-secrets.js";
import { overridden } from "../../support/overridden.js";
import { aWorld } from "../../support/world.js";

const anOpenDoor = () => ({ ...aWorld(), secrets: plainSecrets });

const email = "owner@example.com";
const password = "correct horse battery staple";
const remoteAddress = "192.0.2.1";
const wrong = err({ kind: "wrong_login" });
const busy = { kind: "hashing_busy" } as const;

let world: ReturnType<typeof anOpenDoor>;
let account: Account;
beforeEach(async () => {
  world = anOpenDoor();
  account = (await accounts(world).open({ email: email as Email, password }))._unsafeUnwrap().account;
});

const login = (differences: Partial<Credentials> = {}) =>
  logins(world).logIn({ email, password, remoteAddress, ...differences });
const visitor = async (token: SessionToken) => (await sessions(world).findSession(token))?.account;
const ask = (purpose: "sign_up" | "new_password", address = email) =>
  mailedLinks(world).sendPasswordLink({ email: address, remoteAddress, purpose });
/** As another browser of the owner does. */
const changeMeanwhile = async (): Promise<void> => {
  const { passwordHash = "" } = (await world.accounts.findByEmail(email as Email)) ?? {};
  expect(await world.accounts.replacePassword(account.id, passwordHash, "hash of changed meanwhile")).toBe(true);
};
const failures = () => world.reporter.of("login_failed");
const failure = (reason: LoginFailure, account?: Account) => ({
  kind: "login_failed",
  reason,
  network: remoteAddress,
  accountId: account?.id,
});
/** The token of the last e-mail. */
const lastToken = () => world.mail.messages.at(-1)!.token!;
const redeem = (token: string, text = "another long passphrase") =>
  links(world).setPasswordByLink({ token, password: text });

describe("logIn", () => {
  it("opens a session for the right password, with the e-mail address in any spelling", async () => {
    const token = (await login({ email: " Owner@Example.com " }))._unsafeUnwrap();
    const admittedBy = { sessionSha256: `digest of ${token}` };
    const formToken = `digest of form ${token}`;
    expect(await sessions(world).findSession(token)).toEqual({ account, token, admittedBy, formToken });
  });

  it("gives the same error for a wrong password, an unknown address, no address, and an account without password", async () => {
    const opened = await accounts(world).open({ email: "keys-only@example.com" as Email });
    expect(await login({ password: "wrong" })).toEqual(wrong);
    expect(await login({ email: "nobody@example.com" })).toEqual(wrong);
    expect(await login({ email: "no address" })).toEqual(wrong);
    expect(await login({ email: "keys-only@example.com" })).toEqual(wrong);
    expect(failures()).toEqual([
      failure("wrong_password", account),
      failure("unknown_address"),
      failure("unknown_address"),
      failure("no_password", opened._unsafeUnwrap().account),
    ]);
  });

  it("takes as long for an unknown address: it compares a hash, too", async () => {
    const compared: (string | undefined)[] = [];
    const verifyPassword: Secrets["verifyPassword"] = async (_, hash) => {
      compared.push(hash);
      return ok(true); // also then, an account without a password has no session
    };
    const attempt = logins({ ...world, secrets: { ...plainSecrets, verifyPassword } }).logIn;
    expect(await attempt({ email: "nobody@example.com", password, remoteAddress })).toEqual(wrong);
    expect(compared).toEqual([undefined]);
  });

  it("does not hash a text that is too long for a password", async () => {
    const verifyPassword = () => Promise.reject(new Error("it was hashed"));
    const attempt = logins({ ...world, secrets: { ...plainSecrets, verifyPassword } }).logIn;
    const long = "x".repeat(PASSWORD_CHARACTERS_MAX + 1);
    expect(await attempt({ email, password: long, remoteAddress })).toEqual(wrong);
    expect(failures()).toEqual([failure("wrong_password")]);
  });

  it("returns hashing_busy and passes the abort signal", async () => {
    const { signal } = new AbortController();
    const verifyPassword: Secrets["verifyPassword"] = async (_password, _hash, given) =>
      given === signal ? err(busy) : ok(true);
    const attempt = logins({ ...world, secrets: { ...plainSecrets, verifyPassword } }).logIn;
    expect(await attempt({ email, password, remoteAddress }, signal)).toEqual(err(busy));
    expect(failures()).toEqual([failure("hashing_busy")]);
  });

  it("opens no session if the password is changed during the login", async () => {
    const verifyPassword: Secrets["verifyPassword"] = async () => {
      await changeMeanwhile();
      return ok(true);
    };
    const attempt = logins({ ...world, secrets: { ...plainSecrets, verifyPassword } }).logIn;
    expect(await attempt({ email, password, remoteAddress })).toEqual(wrong);
    expect(failures()).toEqual([failure("wrong_password", account)]);
  });
});

describe("a session", () => {
  it("ends after 30 days, and is deleted by the next login", async () => {
    const token = (await login())._unsafeUnwrap();
    await world.clock.advance(SESSION_SECONDS * 1000 - 1);
    expect(await visitor(token)).toEqual(account);
    await world.clock.advance(1);
    expect(await visitor(token)).toBeUndefined();
    await world.clock.advance(1);
    await login();
    expect(await world.sessions.find(`digest of ${token}`)).toBeUndefined();
  });

  it("ends with logOut, and is unknown to everybody without its token", async () => {
    const [token, other] = [(await login())._unsafeUnwrap(), (await login())._unsafeUnwrap()];
    await sessions(world).logOut(token);
    expect(await visitor(token)).toBeUndefined();
    expect(await visitor(other)).toEqual(account);
    expect(await visitor(`digest of ${other}` as SessionToken)).toBeUndefined();
  });
});

describe("signUp", () => {
  const join = (differences: object = {}, secrets: Secrets = plainSecrets) =>
    accounts({ ...world, secrets }).signUp({ email: "new@example.com", password, remoteAddress, ...differences });

  it("opens an account with which its owner can log in, with the welcome credits", async () => {
    expect(await join()).toEqual(ok(undefined));
    const token = (await login({ email: "new@example.com" }))._unsafeUnwrap();
    expect((await visitor(token))?.email).toBe("new@example.com");
    const other = "other@example.com" as Email;
    const welcome = accounts(world, { welcomeCredits: credits(7) }).signUp;
    expect(await welcome({ email: other, password, remoteAddress })).toEqual(ok(undefined));
    const balances = [email, "new@example.com", other].map(async (address) =>
      world.ledger.balance((await world.accounts.findByEmail(address as Email))!.account.id),
    );
    expect(await Promise.all(balances)).toEqual([0, 0, 7]);
  });

  it("hides that an address is taken, and changes nothing", async () => {
    expect(await join({ email, password: "somebody else's passphrase" })).toEqual(ok(undefined));
    expect(await login({ password: "somebody else's passphrase" })).toEqual(wrong);
    expect((await login()).isOk()).toBe(true);
  });

  it("names the field that breaks a rule", async () => {
    expect((await join({ email: "no address" }))._unsafeUnwrapErr()).toMatchObject({ field: "email" });
    expect((await join({ password: "short" }))._unsafeUnwrapErr()).toMatchObject({ field: "password" });
    expect(await world.accounts.findByEmail("new@example.com" as Email)).toBeUndefined();
  });

  it("counts as an attempt to log in, and passes on that the service is busy with hashing", async () => {
    expect(await join({}, { ...plainSecrets, hashPassword: async () => err(busy) })).toEqual(err(busy));
    for (let n = 0; n < 9; n += 1) await join();
    expect((await join())._unsafeUnwrapErr()).toMatchObject({ kind: "rate_limited", limit: 10 });
  });
});

describe("a sign-up that is not open", () => {
  it.each(["invited", "closed"] as const)(
    "is refused while it is %s, but no e-mail for a new password is",
    async (mode) => {
      const settings = { signUp: mode };
      const refused = err({ kind: "sign_up_refused", mode });
      const request = { email: "new@example.com", remoteAddress };
      expect(await accounts(world, settings).signUp({ ...request, password })).toEqual(refused);
      const send = mailedLinks(world, settings).sendPasswordLink;
      expect(await send({ ...request, purpose: "sign_up" })).toEqual(refused);
      expect(await send({ email, remoteAddress, purpose: "new_password" })).toEqual(ok(undefined));
      const set = (token: string) =>
        links(world, settings).setPasswordByLink({ token, password: "another long passphrase" });
      expect((await set(lastToken())).isOk()).toBe(true);
      await ask("sign_up", "new@example.com");
      const outcome = (await set(lastToken())).match(
        () => "opened",
        ({ kind }) => kind,
      );
      expect(outcome).toBe(mode === "invited" ? "opened" : "link_expired");
    },
  );
});

describe("sendPasswordLink", () => {
  it.each([
    ["new_password", email, "new_password"],
    ["sign_up", email, "already_registered"],
    ["sign_up", "new@example.com", "sign_up"],
  ] as const)("for %s sends %s the e-mail %s", async (purpose, to, kind) => {
    expect(await ask(purpose, ` ${to.toUpperCase()} `)).toEqual(ok(undefined));
    expect(world.mail.messages).toEqual([{ kind, to, token: lastToken() }]);
    const opensAccount = kind === "sign_up";
    expect(await links(world).checkPasswordLink(lastToken())).toEqual({ email: to, opensAccount });
    const closed = await links(world, { signUp: "closed" }).checkPasswordLink(lastToken());
    expect(closed).toEqual(opensAccount ? undefined : { email: to, opensAccount });
  });

  it("sends nothing to an address without an account that asks for a new password, but stores a link, too", async () => {
    const { insert } = world.links;
    let stored = 0;
    world.links.insert = (...link) => {
      stored += 1;
      return insert.apply(world.links, link);
    };
    expect(await ask("new_password", "nobody@example.com")).toEqual(ok(undefined));
    expect([world.mail.messages, stored]).toEqual([[], 1]);
  });

  it("sends at most five e-mails to one address while their links are valid", async () => {
    for (let n = 0; n < 6; n += 1) expect(await ask("new_password")).toEqual(ok(undefined));
    expect(world.mail.messages).toHaveLength(5);
    await world.clock.advance(PASSWORD_LINK_SECONDS * 1000);
    await ask("new_password");
    expect(world.mail.messages).toHaveLength(6);
  });

  it("refuses an invalid address, and the eleventh request of a network within a minute", async () => {
    expect((await ask("sign_up", "no address"))._unsafeUnwrapErr()).toMatchObject({ field: "email" });
    for (let n = 0; n < 10; n += 1) expect(await ask("sign_up", `new-${n}@example.com`)).toEqual(ok(undefined));
    expect((await ask("sign_up"))._unsafeUnwrapErr()).toMatchObject({ kind: "rate_limited", limit: 10 });
    expect(world.mail.messages).toHaveLength(10);
    const elsewhere = { email, remoteAddress: "192.0.2.2", purpose: "sign_up" } as const;
    expect(await mailedLinks(world).sendPasswordLink(elsewhere)).toEqual(ok(undefined));
    expect(world.mail.messages).toHaveLength(11);
  });
});

describe("setPasswordByLink", () => {
  it("sets the password once, ends the other sessions and opens a new one", async () => {
    const old = (await login())._unsafeUnwrap();
    await ask("new_password");
    const token = (await redeem(lastToken()))._unsafeUnwrap();
    expect(await visitor(token)).toEqual(account);
    expect(await visitor(old)).toBeUndefined();
    expect((await login({ password: "another long passphrase" })).isOk()).toBe(true);
    expect(await redeem(lastToken())).toEqual(err({ kind: "link_expired" }));
  });

  it.each([
    [undefined, []],
    [credits(7), [7]],
  ])("opens the account of an address that has none, with the welcome credits %j", async (welcomeCredits, entries) => {
    await ask("sign_up", "new@example.com");
    const link = { token: lastToken(), password };
    const token = (await links(world, { welcomeCredits }).setPasswordByLink(link))._unsafeUnwrap();
    const opened = await visitor(token);
    expect(opened).toMatchObject({ email: "new@example.com", createdAt: world.clock.now() });
    expect((await world.ledger.entries(opened!.id)).map((entry) => entry.credits)).toEqual(entries);
  });

  it("refuses unknown and expired links before it hashes", async () => {
    await ask("new_password");
    await world.clock.advance(PASSWORD_LINK_SECONDS * 1000 - 1);
    expect(await links(world).checkPasswordLink(lastToken())).toBeDefined();
    await world.clock.advance(1);
    expect(await links(world).checkPasswordLink(lastToken())).toBeUndefined();
    world.secrets = { ...plainSecrets, hashPassword: () => Promise.reject(new Error("it was hashed")) };
    for (const token of [lastToken(), "x".repeat(43), "no token"]) {
      expect(await redeem(token)).toEqual(err({ kind: "link_expired" }));
    }
  });

  it("looks up no text that cannot be a token", async () => {
    const find = () => Promise.reject(new Error("it was looked up"));
    expect(
      await links({ ...world, links: overridden(world.links, { find }) }).checkPasswordLink("no token"),
    ).toBeUndefined();
  });

  it("leaves the link valid when the password is refused or the service is busy with hashing", async () => {
    await ask("new_password");
    expect((await redeem(lastToken(), "short"))._unsafeUnwrapErr()).toMatchObject({ field: "password" });
    world.secrets = { ...plainSecrets, hashPassword: async () => err(busy) };
    expect(await redeem(lastToken())).toEqual(err(busy));
    world.secrets = plainSecrets;
    expect((await redeem(lastToken())).isOk()).toBe(true);
  });

  it("gives the same error if the link is used, or the password is changed, while it hashes", async () => {
    await ask("new_password");
    const first = lastToken();
    await ask("new_password");
    const second = lastToken();
    const hashPassword: Secrets["hashPassword"] = async (text) => {
      await redeemAsUsual(first);
      return plainSecrets.hashPassword(text);
    };
    const redeemAsUsual = (token: PasswordLinkToken) =>
      links({ ...world, secrets: plainSecrets }).setPasswordByLink({ token, password });
    const insert = () => Promise.reject(new Error("it was inserted"));
    const tooLate = links({
      ...world,
      sessions: overridden(world.sessions, { insert }),
      secrets: { ...plainSecrets, hashPassword },
    }).setPasswordByLink;
    expect(await tooLate({ token: second, password })).toEqual(err({ kind: "link_expired" }));

    await ask("new_password");
    const { redeem: store } = world.links;
    world.links.redeem = async (...link) => {
      const redeemed = await store.apply(world.links, link);
      await changeMeanwhile();
      return redeemed;
    };
    expect(await redeem(lastToken())).toEqual(err({ kind: "link_expired" }));
  });
});
