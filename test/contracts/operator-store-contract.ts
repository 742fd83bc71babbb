import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  anAccount,
  anApiKey,
  anEndpoint,
  anOrderCheckout,
  aPaidOrder,
  aPendingOrder,
  apiKeyId,
  aSubmittingTask,
  endpointId,
  noon,
  openATask,
  orderId,
  secondsAfter,
  taskId,
} from "../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../adapters/contracts/support/in-changing-zones.js";
import type { OperatorLog } from "../../application/ports/stores/operator-log.js";
import type { OperatorStore } from "../../application/ports/stores/operator-store.js";
import type { Email } from "../../domain/accounts/account.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import type { AdjustmentReason, AdjustmentReference } from "../../domain/credits/adjustment.js";
import { credits } from "../../domain/credits/credits.js";
import { adjust } from "../../domain/credits/funds.js";
import { idempotencyKey } from "../../domain/credits/idempotency.js";
import { audit } from "../../domain/credits/ledger-audit.js";
import type { Standing } from "../../domain/credits/standing.js";
import type { AccountId } from "../../domain/ids.js";
import type { ObjectName } from "../../domain/images/object-name.js";
import { RATE_LIMITS } from "../../domain/panorama-policy.js";
import { fail } from "../../domain/tasks/task.js";
import type { DueDelivery } from "../../domain/webhooks/share-slots.js";
import { newReceiver } from "../../domain/webhooks/webhook-receiver.js";
import { pendingAt } from "../support/pending-at.js";
import type { Stores } from "./stores.js";
import { taskSteps } from "./task-steps.js";

type OperatorStores = Stores & { readonly operators: OperatorStore; readonly operatorLog: OperatorLog };

const REASON = "goodwill" as AdjustmentReason;
const later = secondsAfter(noon, 60);
const SESSION = { tokenSha256: "8".repeat(64), createdAt: noon, expiresAt: later };
const UPLOAD = { content: "content", countedBytes: 1, name: "references/1.jpg" as ObjectName };
const free = () => ok(undefined);

/** What every OperatorStore must do (application/ports/stores/operator-store.ts). */
export const describeOperatorStore = (technology: string, makeStores: () => Promise<OperatorStores>) =>
  describe(`OperatorStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    let stores: OperatorStores;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      const order = aPaidOrder({ checkout: anOrderCheckout({ priceCents: 900 }) });
      await stores.accounts.open(anAccount(), { passwordHash: "hash", order, key: anApiKey() });
      await stores.accounts.open(anAccount({ id: other }));
    });
    afterEach(() => stores.close());

    /** As after a webhook that the receiver of this lane has confirmed, and whose event is deleted now. */
    const confirmed = (lane: string) => {
      const delivery = pendingAt(noon);
      const event = {
        type: "credits.low",
        accountId: owner,
        number: 9,
        remainingCredits: credits(1),
        at: noon,
      } as const;
      const receiver = { verifiedAt: noon, failures: 0, nextAt: noon };
      const origin = "https://origin.example.com";
      const core = { id: 987_654, fence: 1, event, task: undefined, url: origin, endpoint: anEndpoint() };
      return stores.deliveries.record(
        { ...core, lane, origin, receiver: newReceiver(noon), delivery },
        { delivery, receiver, originFreeAt: noon },
        { kind: "delivered", detail: "status 200" },
        noon,
      );
    };
    const steps = taskSteps(() => stores.tasks);
    const open = (n: number, differences: Parameters<typeof aSubmittingTask>[0] = {}) =>
      steps.open(aSubmittingTask({ id: taskId(n), ...differences }), later);
    const ledgerSum = async () => (await stores.ledger.entries(owner)).reduce((sum, entry) => sum + entry.credits, 0);
    const ids = (found: readonly { readonly account: { readonly id: string } }[]) =>
      found.map(({ account }) => account.id);

    it("lists accounts in pages, newest first, with their standing", async () => {
      const { operators } = stores;
      await open(1);
      expect(await operators.accounts(9, undefined)).toEqual([
        {
          account: anAccount({ id: other }),
          standing: { accountId: other, credits: 0, activeTasks: 0 },
          closedAt: undefined,
        },
        { account: anAccount(), standing: { accountId: owner, credits: 96, activeTasks: 1 }, closedAt: undefined },
      ]);
      expect(ids(await operators.accounts(1, undefined))).toEqual([other]);
      expect(ids(await operators.accounts(9, other))).toEqual([owner]);
      expect((await operators.account(owner))?.standing.credits).toBe(96);
      expect(await operators.account(accountId(3))).toBe(undefined);
    });

    it("reads tasks of any account, hidden ones included", async () => {
      const { operators, tasks } = stores;
      const done = await steps.succeeded(await open(1, { place: "comfyui:1" }));
      const second = await open(2, { place: "fal:seedream-4.5" });
      (await tasks.delete(done.id, owner, noon))._unsafeUnwrap();
      expect(await operators.task(done.id)).toEqual({ task: done, isDeleted: true });
      expect(await operators.task(taskId(3))).toBe(undefined);
      expect(await operators.tasks(owner, 9, undefined)).toEqual([
        { task: second, isDeleted: false },
        { task: done, isDeleted: true },
      ]);
      expect(await operators.tasks(owner, 1, second.id)).toEqual([{ task: done, isDeleted: true }]);
      expect(await operators.tasks(other, 9, undefined)).toEqual([]);
    });

    it("adjusts the balance together with its ledger entry, and stores nothing that is refused", async () => {
      const { operators, ledger } = stores;
      const by = (change: number) =>
        operators.adjust(owner, (funds) => adjust({ accountId: owner, funds, change, reason: REASON, at: later }));
      expect(await by(20)).toEqual(ok(120));
      expect(await by(-119)).toEqual(ok(1));
      expect(await by(-2)).toEqual(err({ kind: "insufficient_credits", balance: 1, cost: 2 }));
      expect((await ledger.entries(owner)).slice(1)).toEqual([
        { kind: "adjustment", accountId: owner, reason: REASON, credits: 20, at: later },
        { kind: "adjustment", accountId: owner, reason: REASON, credits: -119, at: later },
      ]);
      expect([await ledger.balance(owner), await ledgerSum()]).toEqual([1, 1]);
      expect(await ledger.totals(owner)).toEqual({ remaining: 1, reserved: 0, spent: 0 });
      await expect(
        operators.adjust(accountId(3), (funds) =>
          adjust({ accountId: owner, funds, change: 1, reason: REASON, at: noon }),
        ),
      ).rejects.toThrow(accountId(3));
    });

    it("stores an adjustment with a reference once in its account, also concurrently", async () => {
      const { operators, ledger } = stores;
      const reference = "ticket 7" as AdjustmentReference;
      const grant = () =>
        operators.adjust(
          owner,
          (funds, known) =>
            known === undefined
              ? adjust({ accountId: owner, funds, change: 5, reason: REASON, reference, at: noon })
              : ok({ funds, entries: [] }),
          reference,
        );
      for (const granted of await Promise.all([1, 2, 3, 4].map(grant))) expect(granted).toEqual(ok(105));
      expect((await ledger.entries(owner)).slice(1)).toEqual([
        { kind: "adjustment", accountId: owner, reason: REASON, reference, credits: 5, at: noon },
      ]);
    });

    it("pays a debt first with the refund of a failed task, concurrently", async () => {
      const { ledger, operators, orders, tasks } = stores;
      const running = await Promise.all([1, 2, 3].map((n) => open(n)));
      const cost = running[0]?.reservation.credits ?? 0;
      const reason = { id: "hand_1", kind: "operator", credits: credits(100), reason: REASON, at: noon } as const;
      (await orders.returnByHand(orderId(1), noon, () => ok(reason)))._unsafeUnwrap();
      expect(await ledger.totals(owner)).toMatchObject({ remaining: 0, reserved: 3 * cost, debt: 3 * cost });
      const refused = await tasks.open({
        account: owner,
        dueAt: later,
        decide: (standing) => openATask(standing, aSubmittingTask({ id: taskId(9) }), noon),
      });
      expect(refused).toEqual(err({ kind: "insufficient_credits", balance: 0, cost, debt: 3 * cost }));
      await operators.adjust(owner, (funds) =>
        adjust({ accountId: owner, funds, change: cost + 1, reason: REASON, at: noon }),
      );
      const failures = running.map((task) => fail(task, "generation_failed", later));
      const moves = running.map((task, index) => tasks.move(task, failures[index] ?? task, undefined));
      for (const moved of await Promise.all(moves)) expect(moved).toEqual(ok(undefined));
      expect(await ledger.totals(owner)).toEqual({ remaining: cost + 1, reserved: 0, spent: 0 });
      const entries = await ledger.entries(owner);
      for await (const { standing } of ledger.all()) {
        if (standing.accountId === owner) expect(audit(standing, entries, failures)).toEqual([]);
      }
      const kinds = entries.slice(-5).map(({ kind, credits }) => [kind, credits]);
      expect(kinds).toEqual([
        ["refund", cost],
        ["debt", -cost],
        ["refund", cost],
        ["debt", 1 - cost],
        ["refund", cost],
      ]);
    });

    it("shows the debt and the open disputes of an account until they end", async () => {
      const { orders, ledger, operators } = stores;
      await orders.pay(aPaidOrder({ paymentId: "pi_1" }));
      await open(1);
      const dispute = { id: "dp_1", kind: "dispute", state: "open", stateAt: noon } as const;
      await orders.recordReturn("pi_1", { ...dispute, withdrawn: { cents: 900, at: noon, transfers: 1 } }, noon);
      expect((await operators.account(owner))?.standing).toMatchObject({ credits: 0, openDisputes: 1, debt: 4 });
      await orders.insert(aPendingOrder({ id: orderId(2) }));
      await orders.pay(aPaidOrder({ id: orderId(2) }));
      expect(await ledger.totals(owner)).toMatchObject({ remaining: 96, debt: undefined });
      const won = { ...dispute, state: "won" as const, stateAt: later };
      await orders.recordReturn("pi_1", { ...won, withdrawn: { cents: 0, at: later, transfers: 2 } }, noon);
      expect((await operators.account(owner))?.standing.openDisputes).toBeUndefined();
      expect(await ledger.balance(owner)).toBe(196);
    });

    it("counts concurrent adjustments", async () => {
      const { operators, ledger } = stores;
      const taken = await Promise.all(
        Array.from({ length: 12 }, () =>
          operators.adjust(owner, (funds) =>
            adjust({ accountId: owner, funds, change: -10, reason: REASON, at: noon }),
          ),
        ),
      );
      expect(taken.filter((result) => result.isOk())).toHaveLength(10);
      expect([await ledger.balance(owner), await ledgerSum()]).toEqual([0, 0]);
    });

    it("changes the limits of a key, whose new budget counts the month's spending", async () => {
      const { operators, keys } = stores;
      const key = apiKeyId(1);
      const yesterday = secondsAfter(noon, -86_400);
      await open(1, { apiKeyId: key, reservedAt: yesterday });
      await open(2, { apiKeyId: key, request: aCreationRequest({ resolution: "2k" }) });
      await steps.failed(await open(3, { apiKeyId: key }));
      const limits = { ...NO_LIMITS, creditsPerDay: credits(10), scopes: ["create"] as const, expiresAt: later };
      for (const _ of [1, 2]) (await operators.setKeyLimits(key, () => ok(limits)))._unsafeUnwrap();
      expect(await operators.key(key)).toEqual(anApiKey({ limits }));
      const spent = { today: 6, thisMonth: yesterday.getUTCMonth() === noon.getUTCMonth() ? 10 : 6 };
      expect((await keys.spending(owner, noon)).get(key)).toEqual(spent);

      const spender = { apiKeyId: key, now: noon };
      const task = aSubmittingTask({ id: taskId(4), apiKeyId: key });
      await stores.tasks.open({
        account: owner,
        dueAt: later,
        spender,
        decide: (standing, _place, spending) => {
          expect(spending).toEqual(spent);
          return openATask(standing, task, noon);
        },
      });
      (await operators.setKeyLimits(key, () => ok(NO_LIMITS)))._unsafeUnwrap();
      expect(await operators.key(key)).toEqual(anApiKey());
      expect((await operators.setKeyLimits(apiKeyId(9), () => ok(limits)))._unsafeUnwrapErr().kind).toBe("not_found");
      expect(await operators.key(apiKeyId(9))).toBe(undefined);

      const oneLimit = (change: object) => operators.setKeyLimits(key, (present) => ok({ ...present, ...change }));
      const changes = [{ creditsPerDay: credits(5) }, { creditsPerMonth: credits(50) }, { expiresAt: later }];
      await Promise.all(changes.map(oneLimit));
      expect((await operators.key(key))?.limits).toEqual(Object.assign({}, NO_LIMITS, ...changes));
    });

    const closedEmail = "closed@closed.invalid" as Email;

    it("closes an account: keys, sessions and password stop working, and its address is free", async () => {
      const { accounts, operators, keys, sessions, links, endpoints, ledger, operatorLog } = stores;
      const { email } = anAccount();
      await accounts.setLowBalance(owner, credits(5));
      const session = { tokenSha256: "1".repeat(64), accountId: owner, createdAt: noon, expiresAt: later };
      await sessions.insert(session, "hash");
      await links.insert({ tokenSha256: "2".repeat(64), email, expiresAt: later }, noon, 5);
      await endpoints.insert(anEndpoint(), () => ok(undefined));
      await operatorLog.begin({ at: noon, operator: "ann@host", command: "account create", arguments: { email } });

      expect(await operators.close(owner, closedEmail, noon, () => err("refused"))).toEqual(err("refused"));
      expect((await accounts.find(owner))?.email).toBe(email);

      const close = () =>
        operators.close(owner, closedEmail, later, ({ credits: balance }) =>
          ok(
            balance === 0
              ? undefined
              : ({ kind: "adjustment", accountId: owner, credits: -balance, reason: REASON, at: later } as const),
          ),
        );
      for (const _ of [1, 2]) (await close())._unsafeUnwrap();
      expect(await operators.account(owner)).toEqual({
        account: anAccount({ email: closedEmail }),
        standing: { accountId: owner, credits: 0, activeTasks: 0 },
        closedAt: later,
      });
      expect((await accounts.findByEmail(closedEmail))?.passwordHash).toBe(undefined);
      expect(await keys.list(owner)).toEqual([]);
      expect(await sessions.find(session.tokenSha256)).toBe(undefined);
      expect(await links.find("2".repeat(64), noon)).toBe(undefined);
      expect(await endpoints.list(owner)).toEqual([]);
      expect((await ledger.entries(owner)).map((entry) => entry.credits)).toEqual([100, -100]);
      expect((await operatorLog.list(1, undefined))[0]?.arguments).toEqual({ email: closedEmail });
      const reopened = await accounts.open(anAccount({ id: accountId(3), email }));
      expect(reopened).toEqual(ok(undefined));
      await expect(operators.close(accountId(4), closedEmail, noon, () => ok(undefined))).rejects.toThrow(accountId(4));
    });

    /** What begins or restores something, and what is left of it. Each resolves to true if it was written. */
    const begins: readonly (readonly [string, () => Promise<boolean>])[] = [
      [
        "key",
        async () =>
          (await stores.keys.insert(anApiKey({ id: apiKeyId(5), secretSha256: "5".repeat(64) }), free)).isOk(),
      ],
      ["endpoint", async () => (await stores.endpoints.insert(anEndpoint({ id: endpointId(5) }), free)).isOk()],
      ["order of the operator", async () => (await stores.orders.insert(aPendingOrder({ id: orderId(5) }))).isOk()],
      [
        "order of the customer",
        async () => (await stores.orders.place(aPendingOrder({ id: orderId(6) }), noon, free)).isOk(),
      ],
      ["upload", async () => (await stores.references.add(owner, [UPLOAD], noon, free)).isOk()],
      ["address", async () => (await stores.links.confirmEmail("3".repeat(64), owner, noon)).isOk()],
      ["password", () => stores.accounts.replacePassword(owner, "hash", "next")],
      ["session", () => stores.sessions.insert({ ...SESSION, accountId: owner }, "hash")],
      ["threshold", async () => (await stores.accounts.setLowBalance(owner, credits(5))).isOk()],
      [
        "creation",
        async () => {
          const decide = (standing: Standing) => openATask(standing, aSubmittingTask(), noon);
          return (await stores.tasks.open({ account: owner, dueAt: later, decide })).isOk();
        },
      ],
      [
        "default endpoint",
        async () => {
          await stores.endpoints.ensureDefault(anEndpoint({ id: endpointId(6), url: undefined }));
          return (await stores.endpoints.list(owner)).length > 0;
        },
      ],
      ["resumption", async () => (await stores.operators.suspend(owner, undefined)).isOk()],
    ];

    const inBothOrders = begins.flatMap(([what, begin]) =>
      (["before", "after"] as const).map((when) => [what, when, begin] as const),
    );

    it.each(inBothOrders)("writes no new %s in a closed account, and keeps none, %s the closing", async (...row) => {
      const [, when, begin] = row;
      const closedEmail = "closed-1@closed.invalid" as Email;
      const now = { email: "new@example.com" as Email, expiresAt: later };
      const close = () => stores.operators.close(owner, closedEmail, later, () => ok(undefined));
      await stores.links.insert({ tokenSha256: "3".repeat(64), ...now }, noon, 5);
      const both = when === "after" ? [close(), begin()] : [begin(), close()];
      expect(await Promise.all(both)).toContainEqual(ok(undefined));
      expect((await stores.operators.account(owner))?.account.email).toBe(closedEmail);
      expect(await stores.keys.list(owner)).toEqual([]);
      expect(await stores.endpoints.list(owner)).toEqual([]);
      if ((await stores.links.find("3".repeat(64), noon)) === undefined) {
        await stores.links.insert({ tokenSha256: "3".repeat(64), ...now }, noon, 5);
      }
      expect(await begin()).toBe(false);
      expect((await stores.operators.account(owner))?.account.email).toBe(closedEmail);
    });

    it("sets no password of a closed account by a link to the address that it has instead", async () => {
      const email = "closed-1@closed.invalid" as Email;
      await stores.operators.close(owner, email, later, () => ok(undefined));
      await stores.links.insert({ tokenSha256: "3".repeat(64), email, expiresAt: later }, noon, 5);
      const redeemed = await stores.links.redeem(
        "3".repeat(64),
        { passwordHash: "new", newAccountId: accountId(7) },
        noon,
      );
      expect(redeemed).toEqual(err({ kind: "link_expired" }));
      expect((await stores.accounts.findByEmail(email))?.passwordHash).toBe(undefined);
    });

    it("begins nothing for a session or a key that has ended, and opens no task for it", async () => {
      const { keys, sessions, tasks, operators } = stores;
      await sessions.insert({ ...SESSION, accountId: owner }, "hash");
      const bySession = { sessionSha256: SESSION.tokenSha256, now: noon };
      const byKey = { apiKeyId: anApiKey().id, now: noon };
      const open = (n: number, access: typeof bySession | typeof byKey) =>
        tasks.open({
          account: owner,
          access,
          dueAt: later,
          idempotent: { key: idempotencyKey("once"), request: "digest" },
          decide: (standing) =>
            openATask(standing, { id: taskId(n), slug: aSubmittingTask().slug, request: aCreationRequest() }, noon),
        });
      const insert = (n: number) =>
        keys.insert(anApiKey({ id: apiKeyId(n), secretSha256: `${n}`.repeat(64) }), free, bySession);
      const ended = err({ kind: "access_ended" });
      expect((await open(1, byKey)).map(({ replayed }) => replayed)).toEqual(ok(false));
      expect((await open(2, bySession)).map(({ replayed }) => replayed)).toEqual(ok(true));
      expect(await insert(5)).toEqual(ok(undefined));
      expect(await insert(6).then(() => open(3, { ...byKey, apiKeyId: apiKeyId(9) }))).toEqual(ended);

      await operators.suspend(owner, { at: noon, reason: "Spam" });
      expect(await open(4, byKey)).toEqual(err({ kind: "account_suspended", reason: "Spam" }));
      expect(await insert(7)).toEqual(err({ kind: "account_suspended", reason: "Spam" }));
      await operators.suspend(owner, undefined);

      expect(await open(5, { ...bySession, now: later })).toEqual(ended); // expired
      await sessions.delete(SESSION.tokenSha256);
      await keys.revoke(anApiKey().id, noon);
      expect(await open(6, bySession)).toEqual(ended);
      expect(await open(7, byKey)).toEqual(ended);
      expect(await insert(8)).toEqual(ended);
      expect((await operators.account(owner))?.standing.credits).toBe(96);
    });

    it("erases the address of a closed account in every page of the log", async () => {
      const { operators, operatorLog } = stores;
      const { email } = anAccount();
      const begin = (given: Readonly<Record<string, string>>) =>
        operatorLog.begin({ at: noon, operator: "ann@host", command: "account create", arguments: given });
      await begin({ email });
      await Promise.all(Array.from({ length: 1_000 }, () => begin({ email: "other@example.com" })));
      const last = await begin({ email });
      (await operators.close(owner, closedEmail, later, () => ok(undefined)))._unsafeUnwrap();
      const listed = await operatorLog.list(2_000, undefined);
      expect([listed[0]?.id, listed.length]).toEqual([last, 1_002]);
      expect(listed.filter((one) => one.arguments.email === closedEmail).length).toBe(2);
      expect(listed.filter((one) => one.arguments.email === email)).toEqual([]);
    });

    it("refuses a creation whose key was read before the account was closed", async () => {
      const { operators, tasks } = stores;
      const requests = stores.countersAt({ now: () => noon, sleep: async () => {} }, RATE_LIMITS).apiRequests;
      const admitted = (await requests.admit(anApiKey().secretSha256, "write"))._unsafeUnwrap();
      const closed = await operators.close(owner, closedEmail, noon, ({ credits: balance }) =>
        ok({ kind: "adjustment", accountId: owner, credits: -balance, reason: REASON, at: noon } as const),
      );
      closed._unsafeUnwrap();
      const opened = await tasks.open({
        account: admitted.accountId,
        dueAt: later,
        snapshot: admitted.key.account,
        decide: (standing) => openATask(standing, aSubmittingTask(), noon),
      });
      expect(opened).toEqual(err({ kind: "access_ended" }));
      expect(await operators.tasks(owner, 9, undefined)).toEqual([]);
    });

    it("lists closed accounts that are not erased, oldest first", async () => {
      const { accounts, operators } = stores;
      const third = accountId(3);
      await accounts.open(anAccount({ id: third, email: "third@example.com" as Email }));
      const close = (id: AccountId, now: Date) =>
        operators.close(id, `closed-${id}@closed.invalid` as Email, now, () => ok(undefined));
      expect(await operators.closedNotErased(9)).toEqual([]);
      for (const [id, now] of [[other, later] as const, [owner, noon] as const]) (await close(id, now))._unsafeUnwrap();
      expect(await operators.closedNotErased(9)).toEqual([owner, other]);
      expect(await operators.closedNotErased(1)).toEqual([owner]);
      await operators.recordErased(owner, later);
      expect(await operators.closedNotErased(9)).toEqual([other]);
      (await close(owner, later))._unsafeUnwrap();
      expect(await operators.closedNotErased(9)).toEqual([owner, other]);
    });

    it("forgets the receivers of the account's webhooks, and no others", async () => {
      const { operators, deliveries, endpoints } = stores;
      const [url, webhook_url] = ["https://receiver.example.com/a", "https://hooks.example.com/b"];
      const lanes = [`${endpointId(1)}`, `${owner} https://hooks.example.com`, `${endpointId(3)}`];
      const addEndpoints = async () => {
        await endpoints.insert(anEndpoint({ id: endpointId(1), accountId: owner, url }), () => ok(undefined));
        await endpoints.ensureDefault(anEndpoint({ id: endpointId(2), accountId: owner, url: undefined }));
      };
      await addEndpoints();
      for (const lane of lanes) await confirmed(lane);
      while (await operators.eraseEvents(owner, 1));

      await addEndpoints();
      await endpoints.insert(anEndpoint({ id: endpointId(3), accountId: owner, url: `${url}/3` }), () => ok(undefined));
      await steps.failed(await open(1, { request: aCreationRequest({ webhook_url }) }), noon);
      const seen: (readonly [string, Date | undefined])[] = [];
      const choose = (due: readonly DueDelivery[]) => {
        for (const { lane, receiver } of due) seen.push([lane, receiver.verifiedAt]);
        return [];
      };
      await deliveries.claim({ now: later, until: later, limit: 9, laneLimit: 9, busyLanes: [], choose });
      expect(new Map(seen)).toEqual(
        new Map([
          [lanes[0], undefined],
          [lanes[1], undefined],
          [lanes[2], noon],
        ]),
      );
    });

    it("erases the texts of tasks, a page at a time, and leaves the ledger clean", async () => {
      const { operators, tasks, ledger, references } = stores;
      const name = "references/a.png" as ObjectName;
      const upload = { content: "a", countedBytes: 7, name };
      (await references.add(owner, [upload], noon, () => ok(undefined)))._unsafeUnwrap();
      const request = aCreationRequest({
        image_urls: ["https://a.example/1.png"],
        seed: 7,
        metadata: { order: "17" },
        visibility: "public",
        webhook_url: "https://r.example/hook",
      });
      const done = await steps.succeeded(await open(1, { request, apiKeyId: apiKeyId(1) }));
      await steps.failed(await open(2, { request }));
      const third = aSubmittingTask({ id: taskId(3), request });
      const opened = await tasks.open({
        account: owner,
        dueAt: later,
        idempotent: { key: idempotencyKey("once"), request: "0".repeat(64) },
        references: new Map([[0, name]]),
        decide: (standing) => openATask(standing, third, noon),
      });
      opened._unsafeUnwrap();
      await steps.failed(third);
      await operators.close(owner, closedEmail, later, () => ok(undefined));

      const first = await operators.eraseTasks(owner, undefined, 2, later);
      expect(first).toBe(taskId(2));
      expect(await operators.eraseTasks(owner, first, 2, later)).toBe(taskId(3));
      expect(await operators.eraseTasks(owner, taskId(3), 2, later)).toBe(undefined);
      while (await operators.eraseEvents(owner, 1));

      for (const { task, isDeleted } of await operators.tasks(owner, 9, undefined)) {
        const { prompt, imageUrls, seed, metadata, webhookUrl, visibility } = task.request;
        expect({ isDeleted, prompt, imageUrls, seed, metadata, webhookUrl, visibility }).toEqual({
          isDeleted: true,
          prompt: undefined,
          imageUrls: [],
          seed: undefined,
          metadata: {},
          webhookUrl: undefined,
          visibility: "private",
        });
      }
      expect(await tasks.list(owner, 9, undefined)).toEqual([]);
      expect(await tasks.list(owner, 9, undefined, { filter: { metadata: { order: "17" } } })).toEqual([]);
      const [erasable] = await tasks.claim("erase", secondsAfter(later, 1), secondsAfter(later, 60), 9);
      expect(erasable?.task).toMatchObject({ id: done.id, upstreamTaskId: "upstream-1", image: done.image });
      expect(await stores.events.after(owner, 0, 9)).toEqual([]);
      expect(await references.expire(secondsAfter(new Date(0), 1), later, 9)).toBe(1);
      expect((await ledger.entries(owner)).map(({ kind }) => kind)).toEqual([
        "purchase",
        "reservation",
        "reservation",
        "refund",
        "reservation",
        "refund",
      ]);
      expect((await operators.account(other))?.account).toEqual(anAccount({ id: other }));
    });
  });

/** What every OperatorLog must do (application/ports/stores/operator-log.ts). */
export const describeOperatorLog = (
  technology: string,
  makeStores: () => Promise<Pick<OperatorStores, "operatorLog" | "close">>,
) =>
  describe(`OperatorLog ${technology}`, () => {
    let stores: Pick<OperatorStores, "operatorLog" | "close">;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
    });
    afterEach(() => stores.close());

    it("lists actions newest first, with their outcome once they have ended", async () => {
      const { operatorLog } = stores;
      const action = (n: number) => ({
        at: secondsAfter(noon, n),
        operator: "ann@host",
        command: "key revoke",
        arguments: { key: `key-${n}`, note: `"quoted" é` },
      });
      expect(await operatorLog.list(9, undefined)).toEqual([]);
      const [first, second] = [await operatorLog.begin(action(1)), await operatorLog.begin(action(2))];
      await operatorLog.end(first, "done");
      const listed = [
        { ...action(2), id: second, outcome: undefined },
        { ...action(1), id: first, outcome: "done" },
      ];
      expect(await operatorLog.list(9, undefined)).toEqual(listed);
      expect(await operatorLog.list(1, undefined)).toEqual(listed.slice(0, 1));
      expect(await operatorLog.list(9, second)).toEqual(listed.slice(1));
    });

    it("deletes the first ones that have ended and are old, and none that is running", async () => {
      const { operatorLog } = stores;
      const begin = (seconds: number) =>
        operatorLog.begin({
          at: secondsAfter(noon, seconds),
          operator: "ann@host",
          command: "order pay",
          arguments: {},
        });
      const [running, ...ended] = [await begin(0), await begin(1), await begin(2), await begin(3), await begin(9)];
      for (const id of ended) await operatorLog.end(id, "done");
      const deleted: number[] = [];
      for (let run = 0; run < 3; run += 1) deleted.push(await operatorLog.deleteBefore(secondsAfter(noon, 9), 2));
      expect(deleted).toEqual([2, 1, 0]);
      expect((await operatorLog.list(9, undefined)).map(({ id }) => id)).toEqual([ended.at(-1), running]);
    });
  });
