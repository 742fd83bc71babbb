import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApiKey } from "../../../../application/accounts/api-keys.js";
import { NO_LIMITS } from "../../../../domain/accounts/key-limits.js";
import { expectError } from "../../../support/error-answer.js";
import { type Customer, HttpService } from "../../../support/http-service.js";

/** What one request cannot show. Which keys and rates each route admits: `rest-interface.test.ts`. */
describe("rate limits", () => {
  let service: HttpService;
  let customer: Customer;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterEach(() => service.end());

  const send = (method: string, path: string, key = customer.key) =>
    fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: { "x-api-key": key },
      ...(method === "POST" && { body: "{}" }),
    });

  it("count each API key separately, and reads and writes separately, and no refused request", async () => {
    for (let n = 0; n < 30; n++) await send("POST", "/panoramas");
    expect((await send("POST", "/images")).status).toBe(429);
    expect((await send("GET", "/credits")).status).toBe(200);
    expect((await send("POST", "/images", (await service.customer()).key)).status).toBe(400);
    await service.clock.advance(60_000);
    expect((await send("POST", "/images")).headers.get("ratelimit")).toBe('"write";r=9;t=60');
  });

  it("stop the writes of an account that revokes its keys and makes new ones", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 25; n++) {
      const { key, secret } = (await createApiKey(service)(customer.accountId, "k"))._unsafeUnwrap();
      for (let write = 0; write < 10; write++) statuses.push((await send("POST", "/panoramas", secret)).status);
      await service.keys.revoke(key.id, service.clock.now());
    }
    expect(statuses).toEqual([...Array(200).fill(400), ...Array(50).fill(429)]);
    const refused = await send("POST", "/panoramas");
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(refused.headers.get("ratelimit-policy")).toBe('"total";q=200;w=60');
    expect(await expectError(refused, 429, "rate_limited")).toBe(
      "This account has reached its limit of 200 writes per minute over all its API keys. Retry in 60 s.",
    );
    expect((await send("GET", "/credits")).status).toBe(200);
    expect((await send("POST", "/images", (await service.customer()).key)).status).toBe(400);
  });

  it("are for keys, but the limit of tasks in processing is for all keys of an account together", async () => {
    const second = (await createApiKey(service)(customer.accountId, "second"))._unsafeUnwrap().secret;
    for (let n = 0; n < 5; n++) await service.created(customer);
    await expectError(await service.create({ ...customer, key: second }), 429, "too_many_active_tasks");
  });

  it("stores the last admitted use at flush, not per request", async () => {
    const limits = { ...NO_LIMITS, scopes: ["read"] as const };
    const { secret } = (await createApiKey(service)(customer.accountId, "reader", limits))._unsafeUnwrap();
    const lastUses = async () => (await service.keys.list(customer.accountId)).map(({ lastUsedAt }) => lastUsedAt);
    await send("GET", "/credits", secret);
    await service.clock.advance(2_000);
    const last = service.clock.now();
    await send("GET", "/credits", secret);
    await service.clock.advance(2_000);
    await send("POST", "/panoramas", secret); // refused
    expect(await lastUses()).toEqual([undefined, undefined]);
    await service.keyUses.flush();
    expect(await lastUses()).toEqual([undefined, last]);
  });
});
