import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountId, noon, secondsAfter } from "../../adapters/contracts/support/builders.js";
import type { EmailOutbox, PostedMessage } from "../../application/ports/stores/email-outbox.js";
import type { Email } from "../../domain/accounts/account.js";

type OutboxUnderTest = { readonly messages: EmailOutbox; close(): Promise<void> };

const aMessage = (n: number): PostedMessage => ({
  id: `e-mail-${n}`,
  kind: n === 0 ? "invitation" : "new_password",
  to: `ann${n}@example.com` as Email,
});

/** What every EmailOutbox must do (application/ports/stores/email-outbox.ts). */
export const describeEmailOutbox = (technology: string, make: () => Promise<OutboxUnderTest>) =>
  describe(`EmailOutbox ${technology}`, () => {
    let made: OutboxUnderTest;
    const claim = (seconds: number, limit = 10) =>
      made.messages.claim(secondsAfter(noon, seconds), secondsAfter(noon, seconds + 90), limit);

    beforeEach(async () => {
      made = await make();
    });
    afterEach(() => made.close());

    it("gives an e-mail that is due to one claimer, with the number of the attempt", async () => {
      await made.messages.add(aMessage(0), noon);
      expect(await claim(-1)).toEqual([]);
      expect(await claim(0)).toEqual([{ ...aMessage(0), attempt: 1 }]);
      expect(await claim(89)).toEqual([]);
      expect(await claim(90)).toEqual([{ ...aMessage(0), attempt: 2 }]);
    });

    it("keeps whose address an e-mail confirms, and which notice it is", async () => {
      const confirms = { ...aMessage(1), kind: "confirm_email", accountId: accountId(7) } as const;
      const kinds = ["password_changed", "email_changed", "email_in_use", "account_deleted"] as const;
      const notices = kinds.map((kind, n) => ({ ...aMessage(n + 2), kind }));
      for (const [n, message] of [confirms, ...notices].entries())
        await made.messages.add(message, secondsAfter(noon, n));
      const claimed = (await claim(9)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(claimed).toEqual([confirms, ...notices].map((message) => ({ ...message, attempt: 1 })));
    });

    it("gives the longest waiting e-mails first", async () => {
      for (const [n, seconds] of [3, 1, 2].entries()) await made.messages.add(aMessage(n), secondsAfter(noon, seconds));
      expect((await claim(5, 2)).map(({ id }) => id).sort()).toEqual(["e-mail-1", "e-mail-2"]);
      expect((await claim(5, 2)).map(({ id }) => id)).toEqual(["e-mail-0"]);
    });

    it("gives each e-mail to one of many claimers", async () => {
      for (let n = 0; n < 20; n += 1) await made.messages.add(aMessage(n), noon);
      const claimed = (await Promise.all(Array.from({ length: 20 }, () => claim(1, 3)))).flat();
      const more = (await Promise.all(Array.from({ length: 20 }, () => claim(1, 3)))).flat();
      expect([...claimed, ...more].map(({ id }) => id).sort()).toEqual(
        Array.from({ length: 20 }, (_, n) => aMessage(n).id).sort(),
      );
    });

    it("bringForward makes e-mails due that a clock which was ahead has delayed, and no others", async () => {
      await made.messages.add(aMessage(1), secondsAfter(noon, 60));
      await made.messages.add(aMessage(2), secondsAfter(noon, 61));
      await made.messages.bringForward(secondsAfter(noon, 60), noon);
      expect(await claim(0)).toEqual([{ ...aMessage(2), attempt: 1 }]);
    });

    it("remove and retry work only with the latest claim", async () => {
      await made.messages.add(aMessage(1), noon);
      const [first] = await claim(0);
      const [second] = await claim(90);
      if (first === undefined || second === undefined) throw new Error("not claimed");
      await made.messages.remove(first);
      await made.messages.retry(first, secondsAfter(noon, 100));
      expect(await claim(101)).toEqual([]);
      await made.messages.retry(second, secondsAfter(noon, 120));
      expect(await claim(119)).toEqual([]);
      const [third] = await claim(120);
      expect(third).toEqual({ ...aMessage(1), attempt: 3 });
      if (third !== undefined) await made.messages.remove(third);
      expect(await claim(10_000)).toEqual([]);
    });
  });
