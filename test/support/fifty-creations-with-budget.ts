import { expect } from "vitest";
import { verifyLedger } from "../../application/credits/ledger.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { credits } from "../../domain/credits/credits.js";
import type { AccountId } from "../../domain/ids.js";
import { accountsWithKeys } from "./accounts-with-keys.js";
import { RestClient } from "./rest-client.js";
import { type AnyDatabase, sqlStores } from "./sql-stores.js";

const KEYS = 10;
/** Half of what the rate limit of a key admits: each can be repeated once without waiting for the next minute. */
const CREATIONS_PER_KEY = 5;
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
  // On a busy machine, statements wait too long for each other: `RestClient` repeats what the service asks to repeat.
  const create = ({ secret }: BudgetedKey, n: number): Promise<string> =>
    new RestClient(urls[n % urls.length] ?? "", secret)
      .create({ prompt: "a foggy ocean test:plain", resolution: "1k" })
      .then(
        () => "202",
        ({ message }: Error) => message,
      );
  const answers = await Promise.all(
    keys.map((key) => Promise.all(Array.from({ length: CREATIONS_PER_KEY }, (_, n) => create(key, n)))),
  );
  for (const ofKey of answers) {
    const refused = ofKey.filter((answer) => answer !== "202");
    expect(refused).toEqual(
      Array(CREATIONS_PER_KEY - WITHIN_BUDGET).fill(
        expect.stringMatching(/^POST \/panoramas: 402 \{"error":\{"code":"insufficient_credits","message":".*month/),
      ),
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
