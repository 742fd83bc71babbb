import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApiKey } from "../../../../application/accounts/api-keys.js";
import { type KeyLimits, NO_LIMITS } from "../../../../domain/accounts/key-limits.js";
import { dayOf, windowEnd } from "../../../../domain/credits/budget.js";
import { credits } from "../../../../domain/credits/credits.js";
import { expectError } from "../../../support/error-answer.js";
import { A_CREATION, type Customer, HttpService } from "../../../support/http-service.js";

let service: HttpService;
let customer: Customer;

beforeEach(async () => {
  service = await HttpService.start();
  customer = await service.customer(1_000);
});
afterEach(() => service.end());

/** The customer with another key that has these limits. */
const withKey = async (limits: Partial<KeyLimits>): Promise<Customer> => {
  const created = await createApiKey(service)(customer.accountId, "limited", { ...NO_LIMITS, ...limits });
  return { ...customer, key: created._unsafeUnwrap().secret };
};
const balance = async () => (await service.ledger.totals(customer.accountId)).remaining;

describe("the budgets of an API key", () => {
  it("answer 402 with the window, the remaining credits and the renewal time", async () => {
    const limited = await withKey({ creditsPerDay: credits(10), creditsPerMonth: credits(1_000) });
    expect((await service.create(limited)).status).toBe(202);
    expect((await service.create(limited)).status).toBe(202);
    expect(await expectError(await service.create(limited), 402, "insufficient_credits")).toBe(
      "This costs 4 credits, but this API key may spend 10 credits per day and has 2 left. The budget of the day renews at 2026-01-02T00:00:00Z.",
    );
    expect((await service.create(customer)).status).toBe(202);
    expect(await balance()).toBe(1_000 - 3 * 4);
  });

  it("name the month when it is spent, and renew with it", async () => {
    const limited = await withKey({ creditsPerDay: credits(4), creditsPerMonth: credits(4) });
    expect((await service.create(limited)).status).toBe(202);
    expect(await expectError(await service.create(limited), 402, "insufficient_credits")).toBe(
      "This costs 4 credits, but this API key may spend 4 credits per month and has 0 left. The budget of the month renews at 2026-02-01T00:00:00Z.",
    );
    await service.clock.advance(new Date("2026-01-31T23:59:59.999Z").getTime() - service.clock.now().getTime());
    expect((await service.create(limited)).status).toBe(402);
    await service.clock.advance(1);
    expect((await service.create(limited)).status).toBe(202);
  });
});

describe("max_credits", () => {
  it.each([
    ["1k", 4],
    ["2k", 6],
    ["4k", 10],
  ])("of %s admits exactly its cost of %i credits", async (resolution, cost) => {
    expect((await service.create(customer, { ...A_CREATION, resolution, max_credits: cost })).status).toBe(202);
    const response = await service.create(customer, { ...A_CREATION, resolution, max_credits: cost - 1 });
    const { error } = (await response.clone().json()) as { error: { param?: string } };
    expect(error.param).toBe("max_credits");
    expect(await expectError(response, 400, "invalid_request")).toBe(
      `max_credits: is ${cost - 1}, but this panorama costs ${cost} credits; nothing was reserved.`,
    );
    expect(await balance()).toBe(1_000 - cost);
    expect(service.provider.started).toBe(1);
  });

  it("belongs to the request of an idempotency key", async () => {
    const key = { "idempotency-key": "once" };
    const create = (fields: object) => service.create(customer, { ...A_CREATION, ...fields }, key);
    expect((await create({ max_credits: 10 })).status).toBe(202);
    expect((await create({ max_credits: 10 })).headers.get("idempotent-replayed")).toBe("true");
    expect(await expectError(await create({ max_credits: 20 }), 400, "invalid_request")).toMatch(/^Idempotency-Key: /);
    expect(await expectError(await create({}), 400, "invalid_request")).toMatch(/^Idempotency-Key: /);
    expect(await balance()).toBe(996);
  });
});

describe("an account whose creations end without a panorama", () => {
  it("gets 429 after 2,000 failed creations until midnight UTC, without a charge", async () => {
    const failures = [dayOf(service.clock.now()), 1_999, customer.accountId];
    await service.database.sql("update account set failure_day = ?, failures = ? where id = ?", failures);
    const id = await service.created(customer);
    service.provider.play({ poll: "failed" });
    await service.settle();
    expect((await service.request(`/panoramas/${id}`, customer)).status).toBe(200);

    const refused = await service.create(customer);
    const seconds = (windowEnd("day", service.clock.now()).getTime() - service.clock.now().getTime()) / 1000;
    expect(refused.headers.get("retry-after")).toBe(String(Math.ceil(seconds)));
    expect(await expectError(refused, 429, "rate_limited")).toBe(
      `Too many creations of this account have ended without a panorama today. Creations are possible again at 00:00 UTC, in ${Math.ceil(seconds)} s.`,
    );
    expect(await balance()).toBe(1_000);
    await service.clock.advance(seconds * 1000);
    expect((await service.create(customer)).status).toBe(202);
  });
});
