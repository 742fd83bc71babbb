import { err, ok, type Result, safeTry } from "neverthrow";
import type { KeyWithSpending } from "../../../application/accounts/api-keys.js";
import { notFound } from "../../../application/errors.js";
import {
  API_KEYS_MAX,
  type ApiKey,
  type ApiKeyId,
  parseApiKeySecret,
  parseKeyName,
} from "../../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../../domain/accounts/key-limits.js";
import { parseKeyLimits } from "../../../domain/accounts/parse-key-limits.js";
import type { AccountId } from "../../../domain/ids.js";
import { type CommandError, misused, refused } from "../../command-error.js";
import type { Service } from "../../service.js";
import { tokens } from "../../tokens.js";
import { ACCOUNT, type Command, optionalText, textOf, type Values } from "../common/command.js";
import { invalidOption, notFoundOrInvalid } from "../common/invalid-option.js";
import { readSecretLine } from "../common/read-password.js";

export const keyCreate: Command = {
  words: "key create",
  about: `Creates an API key and prints it once. The account needs a paid order, and fewer than ${API_KEYS_MAX} keys that are not revoked.`,
  usage:
    "--account ID [--name N] [--scopes read,create] [--expires-at TIME] [--credits-per-day N] [--credits-per-month N]",
  options: {
    ...ACCOUNT,
    name: { type: "string", about: "name shown to the owner; default: key" },
    scopes: { type: "string", about: "read, create or both" },
    "expires-at": { type: "string", about: "RFC 3339 date or time; without an offset it is UTC" },
    "credits-per-day": { type: "string", about: "budget of a day in UTC" },
    "credits-per-month": { type: "string", about: "budget of a month in UTC" },
  },
  required: ["account"],
  example: "key create --account acc_… --name robot --scopes create --credits-per-day 50",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const name = yield* parseKeyName(optionalText(values, "name") ?? "key").mapErr(invalidOption);
      const clock = await service.get(tokens.clock);
      const limits = yield* parseKeyLimits(
        {
          scopes: optionalText(values, "scopes")
            ?.split(",")
            .map((scope) => scope.trim()),
          expires_at: optionalText(values, "expires-at"),
          credits_per_day: optionalText(values, "credits-per-day"),
          credits_per_month: optionalText(values, "credits-per-month"),
        },
        clock.now(),
      ).mapErr(invalidOption);
      const { accounts } = await service.get(tokens.storeUseCases);
      const accountId = textOf(values, "account") as AccountId;
      yield* await accounts.listApiKeys(accountId); // says so if there is no such account
      const created = await accounts.createApiKey(accountId, name, limits);
      const { key, secret } = yield* created.mapErr((refusal) =>
        refused(
          refusal.kind === "no_paid_order"
            ? `Account ${accountId} has no paid order.`
            : refusal.kind === "too_many_api_keys"
              ? `Account ${accountId} already has ${refusal.limit} keys, the maximum. Revoke one first.`
              : `Account ${accountId} is closed.`,
        ),
      );
      return ok({
        json: { key_id: key.id, api_key: secret, ...limitsJson(limits) },
        lines: [`key ${key.id}`, `${secret}  (shown only once)`],
      });
    }),
};

export const keyList: Command = {
  words: "key list",
  about: "Lists the keys of an account with their limits, their last use, and what they have spent.",
  usage: "--account ID",
  options: ACCOUNT,
  required: ["account"],
  example: "key list --account acc_…",
  run: async (service, values) => {
    const { accounts } = await service.get(tokens.storeUseCases);
    const now = (await service.get(tokens.clock)).now();
    const listed = await accounts.listApiKeys(textOf(values, "account") as AccountId);
    return listed.map((keys) => ({
      json: {
        keys: keys.map(({ key, spending }) => ({
          key_id: key.id,
          prefix: key.prefix,
          name: key.name,
          created_at: key.createdAt.toISOString(),
          revoked_at: key.revokedAt?.toISOString() ?? null,
          ...limitsJson(key.limits),
          last_used_at: key.lastUsedAt?.toISOString() ?? null,
          spent_today: spending.today,
          spent_this_month: spending.thisMonth,
        })),
      },
      lines: keys.map((key) => keyLine(key, now)),
    }));
  },
};

const limitsJson = ({ scopes, expiresAt, creditsPerDay, creditsPerMonth }: KeyLimits) => ({
  scopes,
  expires_at: expiresAt?.toISOString() ?? null,
  credits_per_day: creditsPerDay ?? null,
  credits_per_month: creditsPerMonth ?? null,
});

const keyLine = ({ key, spending }: KeyWithSpending, now: Date): string => {
  const { id, prefix, name, createdAt, revokedAt, limits, lastUsedAt } = key;
  const { scopes, expiresAt, creditsPerDay, creditsPerMonth } = limits;
  const of = (budget: number | undefined): string => (budget === undefined ? "" : ` of ${budget}`);
  return [
    id,
    `${prefix}…`,
    createdAt.toISOString(),
    stateOf(revokedAt, expiresAt, now),
    scopes.join(","),
    `today ${spending.today}${of(creditsPerDay)}`,
    `this month ${spending.thisMonth}${of(creditsPerMonth)}`,
    lastUsedAt ? `last used ${lastUsedAt.toISOString()}` : "never used",
    name,
  ].join("  ");
};

const stateOf = (revokedAt: Date | undefined, expiresAt: Date | undefined, now: Date): string => {
  if (revokedAt !== undefined) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt === undefined) return "active";
  return `${expiresAt <= now ? "expired" : "active until"} ${expiresAt.toISOString()}`;
};

const KEY = {
  key: { type: "string", about: "id of the key, not the key itself" },
  "secret-stdin": { type: "boolean", about: "read the key itself from standard input, such as one that has leaked" },
} as const;

/** The key with the given id or secret. */
const keyOf = async (service: Service, values: Values): Promise<Result<ApiKey, CommandError>> => {
  const id = optionalText(values, "key") as ApiKeyId | undefined;
  if (id !== undefined) {
    const key = await (await service.get(tokens.stores)).operators.key(id);
    return key === undefined ? err(notFound(`There is no key ${id}.`)) : ok(key);
  }
  const secret = parseApiKeySecret((await readSecretLine("The key: ")).trim());
  if (secret === undefined) return err(misused("What was read is not an API key, which is sk- and 43 characters."));
  const { operators } = await service.get(tokens.storeUseCases);
  const key = await operators.findKeyBySecret(secret);
  return key === undefined ? err(notFound("No account has this key.")) : ok(key);
};

const LIMIT_OPTIONS = ["scopes", "expires-at", "credits-per-day", "credits-per-month"] as const;

export const keyLimits: Command = {
  words: "key limits",
  about: "Changes the given limits from the next request on, and prints all limits. The value none removes a limit.",
  usage:
    "--key ID | --secret-stdin [--scopes read,create] [--expires-at TIME] [--credits-per-day N] [--credits-per-month N]",
  options: {
    ...KEY,
    scopes: { type: "string", about: "read, create or both" },
    "expires-at": { type: "string", about: "date or time of RFC 3339, or none" },
    "credits-per-day": { type: "string", about: "budget of a day in UTC, or none" },
    "credits-per-month": { type: "string", about: "budget of a month in UTC, or none" },
  },
  required: [],
  example: "key limits --key key_… --credits-per-day 100 --expires-at none",
  isRecorded: true,
  run: async (service, values) => {
    if ((values.key === undefined) === (values["secret-stdin"] !== true)) {
      return err(misused("Give either --key ID or --secret-stdin."));
    }
    const key = await keyOf(service, values);
    if (key.isErr()) return err(key.error);
    const given = Object.fromEntries(LIMIT_OPTIONS.map((option) => [option, optionalText(values, option)]));
    const { operators } = await service.get(tokens.storeUseCases);
    const changed = await operators.changeKeyLimits(key.value.id, (present, now) => {
      const input = (option: (typeof LIMIT_OPTIONS)[number]) => (given[option] === "none" ? undefined : given[option]);
      return parseKeyLimits(
        {
          scopes: input("scopes")
            ?.split(",")
            .map((scope) => scope.trim()),
          expires_at: input("expires-at"),
          credits_per_day: input("credits-per-day"),
          credits_per_month: input("credits-per-month"),
        },
        now,
      ).map((parsed) => ({
        scopes: given.scopes === undefined ? present.scopes : parsed.scopes,
        expiresAt: given["expires-at"] === undefined ? present.expiresAt : parsed.expiresAt,
        creditsPerDay: given["credits-per-day"] === undefined ? present.creditsPerDay : parsed.creditsPerDay,
        creditsPerMonth: given["credits-per-month"] === undefined ? present.creditsPerMonth : parsed.creditsPerMonth,
      }));
    });
    return changed
      .map(({ id, accountId, limits }) => ({
        json: { key_id: id, account_id: accountId, ...limitsJson(limits) },
        lines: Object.entries(limitsJson(limits)).map(([name, value]) => `${name.padEnd(17)}  ${value ?? "none"}`),
      }))
      .mapErr(notFoundOrInvalid);
  },
};

export const keyRevoke: Command = {
  words: "key revoke",
  about: "Revokes a key, or all keys of an account. They are refused from now on.",
  usage: "--key ID | --secret-stdin | --account ID",
  options: { ...KEY, ...ACCOUNT },
  required: [],
  example: "key revoke --key key_…",
  isRecorded: true,
  run: async (service, values) => {
    const account = optionalText(values, "account") as AccountId | undefined;
    const ways = [account !== undefined, values.key !== undefined, values["secret-stdin"] === true];
    if (ways.filter(Boolean).length !== 1) {
      return err(misused("Give either --key ID, --secret-stdin, or --account ID for all keys of the account."));
    }
    const { accounts, operators } = await service.get(tokens.storeUseCases);
    if (account !== undefined) {
      return (await operators.revokeKeys(account)).map((revoked) => ({
        json: { account_id: account, revoked },
        lines: [`${revoked} keys of account ${account} are revoked`],
      }));
    }
    const key = await keyOf(service, values);
    if (key.isErr()) return err(key.error);
    const { id, accountId } = key.value;
    const revoked = await accounts.revokeAnyApiKey(id);
    return revoked.map(() => ({
      json: { key_id: id, account_id: accountId, status: "revoked" },
      lines: [`key ${id} of account ${accountId} is revoked`],
    }));
  },
};
