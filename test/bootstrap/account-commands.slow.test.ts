import { cp, rm, writeFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import { scratchFolder } from "../support/scratch-folder.js";
import type { Installation } from "../support/service-process.js";

const CREATION = { prompt: "a foggy ocean test:plain", resolution: "1k" };

describe("the commands about accounts, money and keys while the service runs", () => {
  let installation: Installation;
  const run = (...args: string[]) => installation.run(...args);
  const refusal = (...args: string[]) => installation.refusal(...args);

  beforeAll(async () => {
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    await installation.start();
  });
  afterAll(() => installation.remove());

  it("account list and show name every account without SQL", async () => {
    const [ann, bob] = [await installation.customer("ann@example.com"), await installation.customer("bob@example.org")];
    const { id } = await ann.client.create(CREATION);
    await ann.client.untilKept(id);
    const shownAnn = {
      account_id: ann.account,
      email: "ann@example.com",
      created_at: expect.any(String),
      closed_at: null,
      suspended_because: null,
      credits: 16,
      active_tasks: 0,
    };
    const listed = await run("account", "list", "--limit", "1");
    expect(listed).toMatchObject({
      accounts: [{ account_id: bob.account, email: "bob@example.org" }],
      next: bob.account,
    });
    expect(await run("account", "list", "--before", bob.account)).toEqual({ accounts: [shownAnn], next: null });
    const shown = {
      ...shownAnn,
      reserved_credits: 0,
      spent_credits: 4,
      debt: 0,
      disputed_payments: 0,
      low_balance: null,
      keys: 1,
      paid_orders: 1,
      webhook_endpoints: 0,
    };
    expect(await run("account", "show", "--account", ann.account)).toEqual(shown);
    expect(await run("account", "show", "--email", "ANN@example.com ")).toEqual(shown);
  });

  it("order create, pay, refund and list show an order, what was taken back, and the debt", async () => {
    const account = String((await run("account", "create", "--email", "ben@example.com")).account_id);
    const order = await run("order", "create", "--account", account, "--credits", "50");
    expect(order).toEqual({ order_id: expect.stringMatching(/^ord_/), status: "pending" });
    const id = String(order.order_id);
    const refund = (...more: string[]) => ["order", "refund", "--order", id, "--reason", "By bank", ...more];
    expect((await refusal(...refund()))[0]).toBe("refused");
    const pending = { orders: [{ order_id: id, status: "pending", paid_at: null }], next: null };
    expect(await run("order", "list", "--pending")).toMatchObject(pending);
    expect(await run("ledger", "show", "--account", account)).toEqual({
      remaining_credits: 0,
      entries: [],
      next: null,
    });
    for (const _ of [1, 2]) expect(await run("order", "pay", "--order", id)).toEqual({ order_id: id, status: "paid" });
    expect(await run("ledger", "show", "--account", account)).toEqual({
      remaining_credits: 50,
      entries: [{ kind: "purchase", credits: 50, at: expect.any(String), order_id: id }],
      next: null,
    });
    const paid = { order_id: id, account_id: account, credits: 50, price_cents: null, dispute: "none" };
    expect(await run(...refund("--credits", "20"))).toMatchObject({
      ...paid,
      ...{ status: "partly_refunded", credits_taken_back: 20, remaining_credits: 30, debt: 0 },
    });
    expect(await refusal(...refund("--credits", "31"))).toEqual([
      "refused",
      `Of order ${id}, 30 credits are left that can be taken back by hand.`,
    ]);
    await run("credits", "take", "--account", account, "--credits", "25", "--reason", "Spent");
    const refunded = { ...paid, status: "refunded", credits_taken_back: 50, return_reason: "By bank" };
    expect(await run(...refund())).toMatchObject({ ...refunded, remaining_credits: 0, debt: 25 });
    expect(await run("account", "show", "--account", account)).toMatchObject({ credits: 0, debt: 25 });
    const next = await run("order", "create", "--account", account, "--credits", "30", "--paid");
    expect(next.status).toBe("paid");
    const list = ["order", "list", "--account", account];
    expect(await run(...list)).toMatchObject({ orders: [{ order_id: next.order_id }, refunded], next: null });
    expect(await run(...list, "--limit", "1")).toMatchObject({ next: next.order_id });
    expect(await run("account", "show", "--account", account)).toMatchObject({ credits: 5, debt: 0 });
  });

  it("credits grant and take change the balance with an entry of their own, never below zero", async () => {
    const { account } = await installation.customer("cas@example.com");
    const of = (credits: string, reason: string) => ["--account", account, "--credits", credits, "--reason", reason];
    const granted = await run("credits", "grant", ...of("5", "For the outage"), "--reference", "T-1");
    expect(granted).toEqual({ account_id: account, remaining_credits: 25 });
    expect(await refusal("credits", "grant", ...of("6", "For the outage"), "--reference", "T-1")).toEqual([
      "refused",
      "The reference was used for 5 credits. Nothing was given.",
    ]);
    expect(await refusal("credits", "take", ...of("26", "Charged back"))).toEqual([
      "refused",
      `Account ${account} has only 25 credits, so 26 cannot be taken.`,
    ]);
    await run("credits", "take", ...of("25", "Charged back"));
    const { entries, remaining_credits } = await run("ledger", "show", "--account", account);
    expect(remaining_credits).toBe(0);
    expect(entries).toMatchObject([
      { kind: "purchase", credits: 20 },
      { kind: "adjustment", credits: 5, reason: "For the outage" },
      { kind: "adjustment", credits: -25, reason: "Charged back" },
    ]);
  });

  it("key create makes a key with limits that key list shows with the spending, until key revoke", async () => {
    const account = String((await run("account", "create", "--email", "lim@example.com")).account_id);
    const create = ["key", "create", "--account", account, "--name", "robot"];
    expect(await refusal(...create)).toEqual(["refused", `Account ${account} has no paid order.`]);
    await run("order", "create", "--account", account, "--credits", "100", "--paid");
    const limits = ["--expires-at", "2999-12-31", "--credits-per-day", "7", "--credits-per-month", "100"];
    const key = await run(...create, "--scopes", "read, create", ...limits);
    const shown = {
      key_id: key.key_id,
      scopes: ["read", "create"],
      expires_at: "2999-12-31T00:00:00.000Z",
      credits_per_day: 7,
      credits_per_month: 100,
    };
    expect(key).toMatchObject(shown);
    const client = new RestClient(installation.url, String(key.api_key));
    const { id } = await client.create(CREATION);
    await client.untilKept(id);
    const listed = {
      ...shown,
      name: "robot",
      created_at: expect.any(String),
      // Stored once a minute.
      last_used_at: expect.toSatisfy((at) => at === null || !Number.isNaN(Date.parse(at))),
      spent_today: 4,
      spent_this_month: 4,
      prefix: String(key.api_key).slice(0, 11),
    };
    expect(await run("key", "list", "--account", account)).toEqual({ keys: [{ ...listed, revoked_at: null }] });
    for (const [option, value, message] of [
      ["--scopes", "write", '--scopes must be "read" or "create", but is "write".'],
      ["--expires-at", "2001-01-01", "--expires-at must be a time in the future"],
      ["--credits-per-day", "0", "--credits-per-day must be an integer from 1 to 1000000000, but is"],
      ["--credits-per-month", "1.5", "--credits-per-month must be an integer from 1 to 1000000000, but is"],
    ] as const) {
      expect(await refusal(...create, option, value)).toEqual(["usage", expect.stringContaining(message)]);
    }
    await run("key", "revoke", "--key", String(key.key_id));
    expect((await client.request("/credits")).status).toBe(401);
    expect(await run("key", "list", "--account", account)).toEqual({
      keys: [{ ...listed, revoked_at: expect.any(String) }],
    });
  });

  it("key limits changes the given limits only", async () => {
    const { account } = await installation.customer("eva@example.com");
    const [key] = (await run("key", "list", "--account", account)).keys as { key_id: string }[];
    const of = ["key", "limits", "--key", key?.key_id ?? ""];
    const limits = { scopes: ["read", "create"], expires_at: null, credits_per_day: null, credits_per_month: null };
    const shown = { key_id: key?.key_id, account_id: account, ...limits };
    expect(await run(...of)).toEqual(shown);
    expect(await run(...of, "--credits-per-day", "7")).toEqual({ ...shown, credits_per_day: 7 });
    const perMonth = { ...shown, credits_per_month: 100 };
    expect(await run(...of, "--credits-per-month", "100", "--credits-per-day", "none")).toEqual(perMonth);
    expect(await run(...of, "--scopes", "create")).toEqual({ ...perMonth, scopes: ["create"] });
    expect((await refusal(...of, "--expires-at", "2001-01-01"))[0]).toBe("usage");
  });

  it("account close needs the address, no task in processing, and can be repeated", async () => {
    const { account, client } = await installation.customer("fay@example.com");
    const close = ["account", "close", "--account", account, "--confirm"];
    expect(await refusal(...close, "ann@example.com")).toEqual([
      "usage",
      `--confirm must be the e-mail address of account ${account}. panorama account show prints it.`,
    ]);
    const { id: slow } = await client.create({ prompt: "test:slow", resolution: "1k" });
    expect((await refusal(...close, "fay@example.com"))[0]).toBe("refused");
    await run("task", "cancel", "--task", slow);
    for (const _ of [1, 2]) {
      expect(await run(...close, "fay@example.com")).toEqual({ account_id: account, status: "closed" });
    }
    expect((await refusal("account", "show", "--email", "fay@example.com"))[0]).toBe("not_found");
    expect(await run("account", "show", "--account", account)).toMatchObject({
      email: `closed-${account}@closed.invalid`,
      closed_at: expect.any(String),
      credits: 0,
      keys: 0,
    });
    expect(JSON.stringify(await run("audit", "list"))).not.toContain("fay@example.com");
  });

  it("audit list shows operator, command and outcome, without secrets", async () => {
    const { account } = await installation.customer("gus@example.com");
    const url = "https://user:secret@receiver.example.com/hook?token=secret";
    await refusal("webhook", "create", "--account", account, "--url", url);
    await refusal("key", "revoke", "--key", "key_0");
    await run("account", "list");
    const { actions, next } = (await run("audit", "list", "--limit", "3")) as {
      actions: { id: number; operator: string }[];
      next: number;
    };
    expect(actions).toEqual([
      {
        id: expect.any(Number),
        at: expect.any(String),
        operator: `${userInfo().username}@${hostname()}`,
        command: "key revoke",
        arguments: { key: "key_0" },
        outcome: "not_found",
      },
      expect.objectContaining({
        command: "webhook create",
        arguments: { account, url: "https://receiver.example.com/hook" },
      }),
      expect.objectContaining({
        command: "account create",
        arguments: { email: "gus@example.com", credits: "20", key: "true" },
        outcome: "done",
      }),
    ]);
    expect(next).toBe(actions[2]?.id);
    expect((await run("audit", "list", "--before", String(next), "--limit", "1")).next).toBeLessThan(next);
  });
});

it("account erase-again closes an account again that was closed after a backup, once the backup is restored", async () => {
  const folder = await scratchFolder();
  const installation = await migratedInstallation({ DEMO: "false" });
  onTestFinished(() => installation.remove());
  const run = (...args: string[]) => installation.run(...args);
  const id = String((await run("account", "create", "--email", "ann@example.com")).account_id);
  await run("account", "create", "--email", "bob@example.com");
  const file = join(folder, "panorama.sqlite");
  await run("backup", file);
  await run("account", "close", "--account", id, "--confirm", "ann@example.com");
  const list = await run("account", "erasures");
  expect(list).toEqual({ erasures: [{ account_id: id, closed_at: expect.any(String) }] });
  const erasures = join(folder, "erasures.json");
  const erased = list.erasures as object[];
  await writeFile(erasures, JSON.stringify({ erasures: [...erased, { account_id: "acc_opened_later" }] }));

  for (const suffix of ["", "-wal", "-shm"]) {
    await rm(join(installation.dataDir, `panorama.sqlite${suffix}`), { force: true });
  }
  await cp(file, join(installation.dataDir, "panorama.sqlite"));
  expect(await run("account", "show", "--account", id)).toMatchObject({ email: "ann@example.com", closed_at: null });
  const again = { closed: 1, closed_before: 0, unknown: 1, active: [] };
  expect(await run("account", "erase-again", erasures)).toEqual(again);
  expect(await run("account", "show", "--account", id)).toMatchObject({ closed_at: expect.any(String) });
  expect(await run("account", "show", "--email", "bob@example.com")).toMatchObject({ closed_at: null });
  expect(await run("account", "erase-again", erasures)).toMatchObject({ closed: 0, closed_before: 1 });
  await writeFile(erasures, "{}");
  expect((await installation.refusal("account", "erase-again", erasures))[0]).toBe("usage");
});
