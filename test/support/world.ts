import { HandClock } from "../../adapters/memory/hand-clock.js";
import { memoryPorts } from "../../adapters/memory/memory-ports.js";
import { MemoryRateLimits } from "../../adapters/persistence/limits/memory-rate-limits.js";
import { memoryStores } from "../../adapters/persistence/memory-stores.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { generationTime } from "../../application/panoramas/generation-time.js";
import type { Email } from "../../domain/accounts/account.js";
import { credits } from "../../domain/credits/credits.js";
import type { AccountId } from "../../domain/ids.js";
import { RATE_LIMITS } from "../../domain/panorama-policy.js";
import { type Stores, useCases } from "./application.js";

/** The application with its stores; every other port is a memory adapter that the test controls. */
export const aWorld = (given?: Stores) => {
  const clock = new HandClock();
  const stores: Stores = given ?? memoryStores(clock, RATE_LIMITS);
  const ports = {
    ...memoryPorts(clock),
    ...stores,
    rateLimits: new MemoryRateLimits(clock, RATE_LIMITS),
    ids: new RandomIds(), // several worlds may share the stores
    generationTime: generationTime(),
  };
  const { apiRequests } = stores.countersAt(clock, RATE_LIMITS);
  return { ...ports, apiRequests, ...useCases(ports) };
};

export type World = ReturnType<typeof aWorld>;

/** Opens an account with `amount` paid credits. */
export const anOwner = async ({ accounts, ids, clock }: World, amount: number): Promise<AccountId> => {
  const id = ids.accountId();
  const now = clock.now();
  const order = { id: ids.orderId(), accountId: id, credits: credits(amount), createdAt: now };
  const account = { id, email: `${id}@example.com` as Email, createdAt: now };
  const opened = await accounts.open(account, { order: { ...order, state: "paid", paidAt: now } });
  opened._unsafeUnwrap();
  return id;
};
