import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { verifyLedger } from "../../application/credits/verify-ledger.js";
import type { AccountId } from "../../domain/account-id.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { credits } from "../../domain/credits/credits.js";
import { accountsWithKeys } from "./accounts-with-keys.js";
import { type AnyDatabase, sqlStores } from "./sql-stores.js";

const KEYS = 5;
/** As many writes as the rate limit of a key admits. */
const CREATIONS_PER_KEY = 10;
const PANORAMA_CREDITS = 4;
const ACCOUNT_CREDITS = 100;
/** Two panoramas fit, and three credits are left. */
const BUDGET = 11;
const WITHIN_BUDGET = 2;

type BudgetedKey = { readonly account: AccountId; readonly id: string; readonly secret: string };

/** Keys of different accounts, each with the same budget of the month. */
export const keysWithBudget = async (database: AnyDatabase): Promise<readonly BudgetedKey[]> => {
  const limits = { ...NO_LIMITS, creditsPerMonth: credits(BUDGET) };
  const accounts = await accountsWithKeys(database, KEYS, ACCOUNT_CREDITS, 1, limits);
  return accounts.flatMap(({ id, keys }) => keys.map(({ key, secret }) => ({ account: id, id: key.id, secret })));
};

/** Fifty creations at the same time, spread over the services: of each key exactly those in its budget are accepted. */
export const createsFiftyWithBudget = async (
  keys: readonly BudgetedKey[],
  urls: readonly string[],
  database: AnyDatabase,
): Promise<void> => {
  const create = async (key: BudgetedKey, n: number): Promise<string> => {
    const answer = await fetch(`${urls[n % urls.length]}/api/v1/panoramas`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.secret}` },
      body: JSON.stringify({ prompt: "a foggy ocean test:plain", resolution: "1k" }),
    });
    const { error } = (await answer.json()) as { error?: { code: string; message: string } };
    // On a busy machine, statements wait too long for each other. The client repeats what the service asks to repeat.
    if (answer.status === 429 && error?.message.startsWith("The service is busy")) {
      await setTimeout(1_000 * Number(answer.headers.get("retry-after")));
      return create(key, n);
    }
    return error === undefined ? String(answer.status) : `${answer.status} ${error.code}: ${error.message}`;
  };
  const answers = await Promise.all(
    keys.map((key) => Promise.all(Array.from({ length: CREATIONS_PER_KEY }, (_, n) => create(key, n)))),
  );
  for (const ofKey of answers) {
    const refused = ofKey.filter((answer) => answer !== "202");
    expect(refused).toEqual(
      Array(CREATIONS_PER_KEY - WITHIN_BUDGET).fill(expect.stringMatching(/^402 insufficient_credits: .*month/)),
    );
  }

  const accounts = keys.map(({ account }) => account);
  const rows = async (statement: string) =>
    (await database.sql(statement)).filter((row) => accounts.some((account) => account === row.account_id));
  expect(await rows("select id as account_id, credits from account")).toEqual(
    expect.arrayContaining(
      accounts.map((account_id) => ({
        account_id,
        credits: ACCOUNT_CREDITS - WITHIN_BUDGET * PANORAMA_CREDITS,
      })),
    ),
  );
  expect(await rows("select account_id from task")).toHaveLength(KEYS * WITHIN_BUDGET);
  expect((await verifyLedger(sqlStores(database))()).findings).toEqual([]);
};
