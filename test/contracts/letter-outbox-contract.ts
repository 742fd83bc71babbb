import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountId, noon, secondsAfter } from "../../adapters/contracts/support/builders.js";
import type { LetterOutbox, PostedLetter } from "../../application/ports/stores/letter-outbox.js";
import type { Email } from "../../domain/accounts/account.js";

type OutboxUnderTest = { readonly letters: LetterOutbox; close(): Promise<void> };

const aLetter = (n: number): PostedLetter => ({
  id: `letter-${n}`,
  kind: n === 0 ? "invitation" : "new_password",
  to: `ann${n}@example.com` as Email,
});

/** What every LetterOutbox must do (application/ports/stores/letter-outbox.ts). */
export const describeLetterOutbox = (technology: string, make: () => Promise<OutboxUnderTest>) =>
  describe(`LetterOutbox ${technology}`, () => {
    let made: OutboxUnderTest;
    const claim = (seconds: number, limit = 10) =>
      made.letters.claim(secondsAfter(noon, seconds), secondsAfter(noon, seconds + 90), limit);

    beforeEach(async () => {
      made = await make();
    });
    afterEach(() => made.close());

    it("gives a letter that is due to one claimer, with the number of the attempt", async () => {
      await made.letters.add(aLetter(0), noon);
      expect(await claim(-1)).toEqual([]);
      expect(await claim(0)).toEqual([{ ...aLetter(0), attempt: 1 }]);
      expect(await claim(89)).toEqual([]);
      expect(await claim(90)).toEqual([{ ...aLetter(0), attempt: 2 }]);
    });

    it("keeps whose address a letter confirms, and which notice it is", async () => {
      const confirms = { ...aLetter(1), kind: "confirm_email", accountId: accountId(7) } as const;
      const kinds = ["password_changed", "email_changed", "email_in_use", "account_deleted"] as const;
      const notices = kinds.map((kind, n) => ({ ...aLetter(n + 2), kind }));
      for (const [n, letter] of [confirms, ...notices].entries()) await made.letters.add(letter, secondsAfter(noon, n));
      const claimed = (await claim(9)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(claimed).toEqual([confirms, ...notices].map((letter) => ({ ...letter, attempt: 1 })));
    });

    it("gives the longest waiting letters first", async () => {
      for (const [n, seconds] of [3, 1, 2].entries()) await made.letters.add(aLetter(n), secondsAfter(noon, seconds));
      expect((await claim(5, 2)).map(({ id }) => id).sort()).toEqual(["letter-1", "letter-2"]);
      expect((await claim(5, 2)).map(({ id }) => id)).toEqual(["letter-0"]);
    });

    it("gives each letter to one of many claimers", async () => {
      for (let n = 0; n < 20; n += 1) await made.letters.add(aLetter(n), noon);
      const claimed = (await Promise.all(Array.from({ length: 20 }, () => claim(1, 3)))).flat();
      const more = (await Promise.all(Array.from({ length: 20 }, () => claim(1, 3)))).flat();
      expect([...claimed, ...more].map(({ id }) => id).sort()).toEqual(
        Array.from({ length: 20 }, (_, n) => aLetter(n).id).sort(),
      );
    });

    it("bringForward makes letters due that a clock which was ahead has delayed, and no others", async () => {
      await made.letters.add(aLetter(1), secondsAfter(noon, 60));
      await made.letters.add(aLetter(2), secondsAfter(noon, 61));
      await made.letters.bringForward(secondsAfter(noon, 60), noon);
      expect(await claim(0)).toEqual([{ ...aLetter(2), attempt: 1 }]);
    });

    it("remove and retry work only with the latest claim", async () => {
      await made.letters.add(aLetter(1), noon);
      const [first] = await claim(0);
      const [second] = await claim(90);
      if (first === undefined || second === undefined) throw new Error("not claimed");
      await made.letters.remove(first);
      await made.letters.retry(first, secondsAfter(noon, 100));
      expect(await claim(101)).toEqual([]);
      await made.letters.retry(second, secondsAfter(noon, 120));
      expect(await claim(119)).toEqual([]);
      const [third] = await claim(120);
      expect(third).toEqual({ ...aLetter(1), attempt: 3 });
      if (third !== undefined) await made.letters.remove(third);
      expect(await claim(10_000)).toEqual([]);
    });
  });
