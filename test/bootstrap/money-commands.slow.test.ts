import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { Installation } from "../support/service-process.js";

describe("the operator's commands about money", () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
  });
  afterAll(() => installation.remove());

  const run = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { status, json, stderr } = await installation.answer(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return json;
  };
  const refusal = async (...args: string[]) => {
    const { json, error } = await installation.answer(...args);
    expect(json).toEqual({});
    return [error?.code, error?.message];
  };
  const customer = async (email: string) => {
    const opened = await run("account", "create", "--email", email, "--credits", "20", "--key");
    return { account: String(opened.account_id), key: String(opened.api_key) };
  };

  it("order refund takes credits back, first from the balance, then as debt, and order list shows it", async () => {
    const { account } = await customer("ann@example.com");
    const made = await run("order", "create", "--account", account, "--credits", "50", "--paid");
    const id = String(made.order_id);
    const refund = (...more: string[]) => ["order", "refund", "--order", id, "--reason", "By bank", ...more];
    const paid = { order_id: id, account_id: account, credits: 50, price_cents: null, dispute: "none" };
    expect(await run(...refund("--credits", "20"))).toMatchObject({
      ...paid,
      ...{ status: "partly_refunded", credits_taken_back: 20, remaining_credits: 50, debt: 0 },
    });
    expect(await refusal(...refund("--credits", "31"))).toEqual([
      "refused",
      `Of order ${id}, 30 credits are left that can be taken back by hand.`,
    ]);
    await run("credits", "take", "--account", account, "--credits", "45", "--reason", "Spent");
    const refunded = { ...paid, status: "refunded", credits_taken_back: 50, return_reason: "By bank" };
    expect(await run(...refund())).toMatchObject({ ...refunded, remaining_credits: 0, debt: 25 });
    expect(await run("account", "show", "--account", account)).toMatchObject({ credits: 0, debt: 25 });
    const open = String((await run("order", "create", "--account", account, "--credits", "30")).order_id);
    expect((await refusal("order", "refund", "--order", open, "--reason", "x"))[0]).toBe("refused");
    const listed = await run("order", "list", "--account", account, "--limit", "2");
    expect(listed).toMatchObject({
      orders: [{ order_id: open, status: "pending", paid_at: null }, refunded],
      next: id,
    });
    expect(await run("order", "list", "--pending")).toMatchObject({ orders: [{ order_id: open }], next: null });
    await run("order", "pay", "--order", open);
    expect(await run("account", "show", "--account", account)).toMatchObject({ credits: 5, debt: 0 });
    expect(await run("ledger", "verify")).toMatchObject({ findings: [] });
    const { actions } = (await run("audit", "list", "--limit", "9")) as { actions: { command: string }[] };
    expect(actions.map(({ command }) => command)).toContain("order refund");
  });

  it("credits grant gives credits once for a reference", async () => {
    const { account } = await customer("bob@example.com");
    const grant = (credits: string) => [
      "credits",
      "grant",
      "--account",
      account,
      "--credits",
      credits,
      "--reason",
      "Outage",
      "--reference",
      "T-1",
    ];
    for (const _ of [1, 2]) expect((await run(...grant("5"))).remaining_credits).toBe(25);
    expect(await refusal(...grant("6"))).toEqual([
      "refused",
      "The reference was used for 5 credits. Nothing was given.",
    ]);
  });

  it("payments reconcile needs a date and a payment service", async () => {
    expect((await refusal("payments", "reconcile", "--from", "yesterday"))[0]).toBe("usage");
    expect(await refusal("payments", "reconcile", "--from", "2026-05-03")).toEqual([
      "refused",
      "Stripe cannot be asked: STRIPE_SECRET_KEY is not set.",
    ]);
  });
});
