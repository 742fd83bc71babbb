import type { OperatorLoginStore } from "../../application/ports/stores/operator-login-store.js";
import type { OperatorLogin, OperatorName, OperatorSession } from "../../domain/accounts/operator.js";
import { noon, secondsAfter } from "./support/builders.js";
import { expect } from "./support/expect.js";
import type { TestFunctions } from "./support/test-functions.js";

/** What every OperatorLoginStore must do (application/ports/stores/operator-login-store.ts). */
export const describeOperatorLoginStore = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  makeStore: () => Promise<{ readonly logins: OperatorLoginStore; close(): Promise<void> }>,
): void =>
  describe(`OperatorLoginStore ${technology}`, () => {
    const [ann, bob] = ["ann", "bob"] as [OperatorName, OperatorName];
    const login = (name: OperatorName, passwordHash = "the hash"): OperatorLogin => ({
      name,
      passwordHash,
      codeSecret: "ABCDEFGHIJKLMNOP",
      createdAt: noon,
    });
    const session = (n: number, operator = ann): OperatorSession => ({
      tokenSha256: String(n).repeat(64),
      operator,
      expiresAt: secondsAfter(noon, 60),
    });
    let store: OperatorLoginStore;
    let close: () => Promise<void>;

    beforeEach(async () => {
      const made = await makeStore();
      store = made.logins;
      close = () => made.close();
    });
    afterEach(() => close());

    it("has nobody at first, and lists logins by name", async () => {
      expect(await store.hasAny()).toBe(false);
      await store.put(login(bob));
      await store.put(login(ann));
      expect(await store.hasAny()).toBe(true);
      expect(await store.list()).toEqual([login(ann), login(bob)]);
      expect(await store.find(ann)).toEqual(login(ann));
      expect(await store.find("eve" as OperatorName)).toBeUndefined();
    });

    it("uses a code once, and none that is older than one that was used", async () => {
      await store.put(login(ann));
      const used = await Promise.all(Array.from({ length: 5 }, () => store.useCode(ann, 100)));
      expect(used.filter((isUsed) => isUsed)).toEqual([true]);
      expect(await store.useCode(ann, 99)).toBe(false);
      expect(await store.useCode(ann, 101)).toBe(true);
      expect(await store.useCode(bob, 101)).toBe(false);
    });

    it("remembers used codes with a new password, and forgets them with a new secret", async () => {
      await store.put(login(ann));
      await store.useCode(ann, 100);
      await store.put(login(ann, "a new hash"));
      expect(await store.useCode(ann, 100)).toBe(false);
      await store.put({ ...login(ann), codeSecret: "PONMLKJIHGFEDCBA" });
      expect(await store.useCode(ann, 100)).toBe(true);
    });

    it("keeps sessions until they end, and opens none with a password that was replaced", async () => {
      await store.put(login(ann));
      expect(await store.insertSession(session(1), "another hash")).toBe(false);
      expect(await store.insertSession(session(1), "the hash")).toBe(true);
      expect(await store.findSession(session(1).tokenSha256)).toEqual(session(1));
      await store.deleteSession(session(1).tokenSha256);
      expect(await store.findSession(session(1).tokenSha256)).toBeUndefined();
      expect(await store.insertSession(session(2, bob), "the hash")).toBe(false);
    });

    it("deletes sessions that have expired, and no others", async () => {
      await store.put(login(ann));
      const longer = { ...session(2), expiresAt: secondsAfter(noon, 61) };
      for (const one of [session(1), longer]) await store.insertSession(one, "the hash");
      await store.deleteExpiredSessions(secondsAfter(noon, 60));
      expect(await store.findSession(session(1).tokenSha256)).toBeUndefined();
      expect(await store.findSession(longer.tokenSha256)).toEqual(longer);
    });

    it("ends the sessions of somebody who gets a new password or is removed, and no others", async () => {
      for (const name of [ann, bob]) await store.put(login(name));
      await store.insertSession(session(1), "the hash");
      await store.insertSession(session(2, bob), "the hash");
      await store.put(login(ann, "a new hash"));
      expect(await store.findSession(session(1).tokenSha256)).toBeUndefined();
      expect(await store.find(ann)).toEqual(login(ann, "a new hash"));
      expect(await store.findSession(session(2).tokenSha256)).toEqual(session(2, bob));
      expect(await store.remove(bob)).toBe(true);
      expect(await store.remove(bob)).toBe(false);
      expect(await store.findSession(session(2).tokenSha256)).toBeUndefined();
    });
  });
