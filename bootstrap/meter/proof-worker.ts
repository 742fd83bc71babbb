import type { Pool, PoolClient } from "pg";
import { postgres } from "../../adapters/persistence/stores/postgres-meter-store.js";
import { type JoiningMeter, meter, type TaskHold } from "../../application/credits/meter.js";
import { StoreBusy } from "../../application/ports/stores/store-busy.js";
import { definePolicy } from "../../domain/credits/policy.js";
import { openPool } from "./open-pool.js";

/** What a worker was told by the meter: from then on it must be true, whatever is killed. */
export type Answer =
  | { readonly told: "bought"; readonly account: string; readonly order: string; readonly credits: number }
  | { readonly told: "held"; readonly account: string; readonly task: string; readonly key: string | undefined }
  | { readonly told: "captured"; readonly task: string; readonly credits: number }
  | { readonly told: "refunded"; readonly task: string }
  | { readonly told: "refunded_later" | "adjusted"; readonly account: string; readonly key: string };

export const PROOF_POLICY = definePolicy({
  prices: { token: 1 },
  rates: { call: { limit: 1_000_000, windowSeconds: 60 } },
  activeMax: 1_000_000,
  holdSeconds: 2, // so that many leases end in the time of a proof
});
export const PROOF_ACCOUNTS = ["a", "b", "c"] as const;

const AT_ONCE = 4;

type Product = JoiningMeter<"token", "call", Pick<PoolClient, "query">>;
type Proof = {
  readonly pool: Pool;
  readonly schema: string;
  readonly tokens: Product;
  readonly tell: (answer: Answer) => void;
};

/**
 * Uses the meter until it is killed. A call that the database has refused because it is busy is tried again; whatever
 * else is thrown fails the proof.
 */
export const proofWorker = async (url: string, schema: string, tell: Proof["tell"]): Promise<never> => {
  const pool = await openPool(url);
  const tokens = meter({ policy: PROOF_POLICY, store: await postgres(pool, { schema, migrate: false }) });
  const proof = { pool, schema, tokens, tell };
  const work = async (): Promise<never> => {
    for (;;) {
      await actAtRandom(proof).catch((error: unknown) => {
        if (!(error instanceof StoreBusy)) throw error;
      });
    }
  };
  return Promise.race(Array.from({ length: AT_ONCE }, work));
};

const below = (limit: number): number => Math.floor(Math.random() * limit);
const oneOf = <Value>(values: readonly Value[]): Value => values[below(values.length)] as Value;

const actAtRandom = async (proof: Proof): Promise<void> => {
  const account = oneOf(PROOF_ACCOUNTS);
  const dice = below(10);
  if (dice < 2) await buy(proof, account);
  else if (dice < 8) await useTokens(proof, account);
  else await correct(proof, account);
};

/** The same few orders again and again, as webhooks of payments arrive. */
const buy = async ({ tokens, tell }: Proof, account: string): Promise<void> => {
  const order = `order-${below(1_000)}`;
  await tokens.purchase(account, { orderId: order, credits: 20 });
  tell({ told: "bought", account, order, credits: 20 });
};

/** Holds credits together with the row of a job, and ends it: once, twice, in both ways, or never. */
const useTokens = async (proof: Proof, account: string): Promise<void> => {
  const { tokens, tell } = proof;
  const key = below(3) === 0 ? `key-${below(300)}` : undefined;
  const hold = await holdWithJob(proof, account, key);
  if (hold === undefined) return;
  tell({ told: "held", account, task: hold.taskId, key });
  const part = below(hold.credits + 1);
  const ends = [() => capture(proof, hold, hold.credits), () => capture(proof, hold, part), () => refund(proof, hold)];
  const fate = below(8);
  if (fate === 0) return; // forgotten: its lease ends
  if (fate === 1) await Promise.all([oneOf(ends)(), oneOf(ends)(), oneOf(ends)()]);
  else await oneOf(ends)();
  if (fate !== 2) return;
  const again = { taskId: hold.taskId, credits: below(3), reason: "proof", idempotencyKey: `refund-${hold.taskId}` };
  const [one] = await Promise.all([tokens.refund(account, again), tokens.refund(account, again)]);
  if (one.isOk()) tell({ told: "refunded_later", account, key: again.idempotencyKey });
};

const holdWithJob = async (proof: Proof, account: string, key: string | undefined): Promise<TaskHold | undefined> => {
  const { pool, schema, tokens } = proof;
  const client = await pool.connect();
  try {
    await client.query("begin");
    const request = { price: "token", quantity: 1 + (key === undefined ? below(9) : 4), rate: "call" } as const;
    const held = await tokens.within(client).hold(account, { ...request, idempotencyKey: key });
    const isNew = held.isOk() && !held.value.replayed;
    if (isNew) await client.query(`insert into ${schema}.job (task_id) values ($1)`, [held.value.taskId]);
    // Some callers change their mind: neither the hold nor the job may stay.
    const isKept = !isNew || below(6) > 0;
    await client.query(isKept ? "commit" : "rollback");
    return isKept && held.isOk() ? tokens.find(account, held.value.taskId) : undefined;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
};

const capture = async ({ tell }: Proof, hold: TaskHold, credits: number): Promise<void> => {
  const captured = await hold.capture({ credits });
  if (captured.isOk()) tell({ told: "captured", task: hold.taskId, credits });
};

const refund = async ({ tell }: Proof, hold: TaskHold): Promise<void> => {
  const refunded = await hold.refund();
  if (refunded.isOk()) tell({ told: "refunded", task: hold.taskId });
};

const correct = async ({ tokens, tell }: Proof, account: string): Promise<void> => {
  const key = `adjustment-${below(1_000)}`;
  const taken = { credits: -3, reason: "proof", idempotencyKey: key };
  const [one] = await Promise.all([tokens.adjust(account, taken), tokens.adjust(account, taken)]);
  if (one.isOk()) tell({ told: "adjusted", account, key });
};
