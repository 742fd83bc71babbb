import { text as readText } from "node:stream/consumers";
import { err, ok, safeTry } from "neverthrow";
import type { KeyWithSpending } from "../../../application/accounts/list-api-keys.js";
import type { AccountId } from "../../../domain/account-id.js";
import { type ApiKeyId, parseKeyName } from "../../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../../domain/accounts/key-limits.js";
import { parseKeyLimits } from "../../../domain/accounts/parse-key-limits.js";
import { misused, notFound, refused } from "../../command-error.js";
import { tokens } from "../../tokens.js";
import { ACCOUNT, type Command, optionalText, text } from "../common/command.js";
import { invalidOption } from "../common/invalid-option.js";

export const keyCreate: Command = {
  words: "key create",
  about: "Makes an API key, and shows it once. The account needs a paid order.",
  usage:
    "--account ID [--name N] [--scopes read,create] [--expires-at TIME] [--credits-per-day N] [--credits-per-month N]",
  options: {
    ...ACCOUNT,
    name: { type: "string", about: "name that the owner sees; key if it is left out" },
    scopes: { type: "string", about: "read, create or both" },
    "expires-at": { type: "string", about: "date or time of RFC 3339" },
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
      const accountId = text(values, "account") as AccountId;
      const created = await accounts.createApiKey(accountId, name, limits);
      const { key, secret } = yield* created.mapErr((refusal) =>
        refused(
          refusal.kind === "no_paid_order"
            ? `Account ${accountId} has no paid order.`
            : `Account ${accountId} already has ${refusal.limit} keys, the maximum. Revoke one first.`,
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
    const listed = await accounts.listApiKeys(text(values, "account") as AccountId);
    return listed
      .map((keys) => ({
        json: {
          keys: keys.map(({ key, spending }) => ({
            key_id: key.id,
            prefix: key.prefix ?? null,
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
      }))
      .mapErr(({ message }) => notFound(message));
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
    prefix === undefined ? "no prefix" : `${prefix}…`,
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

const LIMIT_OPTIONS = ["scopes", "expires-at", "credits-per-day", "credits-per-month"] as const;

export const keyLimits: Command = {
  words: "key limits",
  about: "Changes the limits that are given, from the next request on, and shows all of them. none removes a limit.",
  usage: "--key ID [--scopes read,create] [--expires-at TIME] [--credits-per-day N] [--credits-per-month N]",
  options: {
    key: { type: "string", about: "id of the key, not the key itself" },
    scopes: { type: "string", about: "read, create or both" },
    "expires-at": { type: "string", about: "date or time of RFC 3339, or none" },
    "credits-per-day": { type: "string", about: "budget of a day in UTC, or none" },
    "credits-per-month": { type: "string", about: "budget of a month in UTC, or none" },
  },
  required: ["key"],
  example: "key limits --key key_… --credits-per-day 100 --expires-at none",
  isRecorded: true,
  run: async (service, values) => {
    const given = Object.fromEntries(LIMIT_OPTIONS.map((option) => [option, optionalText(values, option)]));
    const { operators } = await service.get(tokens.storeUseCases);
    const changed = await operators.changeKeyLimits(text(values, "key") as ApiKeyId, (present, now) => {
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
      .map(({ id, limits }) => ({
        json: { key_id: id, ...limitsJson(limits) },
        lines: Object.entries(limitsJson(limits)).map(([name, value]) => `${name.padEnd(17)}  ${value ?? "none"}`),
      }))
      .mapErr((error) => (error.kind === "not_found" ? notFound(error.message) : invalidOption(error)));
  },
};

export const keyFind: Command = {
  words: "key find",
  about: "Finds keys by their secret, by its beginning (sk- and 8 characters or more), or by id, with their account.",
  usage: "SECRET|PREFIX|ID|-",
  options: {},
  positional: "key",
  required: ["key"],
  example: "key find sk-AbCdEfGh",
  run: async (service, values) => {
    const given = text(values, "key");
    // Other users of the machine see the command line of a process.
    const searched = (given === "-" ? await readText(process.stdin) : given).trim();
    const { operators } = await service.get(tokens.storeUseCases);
    const now = (await service.get(tokens.clock)).now();
    const keys = await operators.findKeys(searched);
    if (keys.length === 0) return err(notFound("There is no such key."));
    return ok({
      json: {
        keys: keys.map((key) => ({
          key_id: key.id,
          account_id: key.accountId,
          prefix: key.prefix ?? null,
          name: key.name,
          created_at: key.createdAt.toISOString(),
          revoked_at: key.revokedAt?.toISOString() ?? null,
          expires_at: key.limits.expiresAt?.toISOString() ?? null,
          last_used_at: key.lastUsedAt?.toISOString() ?? null,
        })),
      },
      lines: keys.map(({ id, accountId, prefix, name, revokedAt, limits }) =>
        [id, accountId, prefix ?? "no prefix", stateOf(revokedAt, limits.expiresAt, now), name].join("  "),
      ),
    });
  },
};

const OVERLAP_HOURS_MAX = 720;
const HOUR_MILLISECONDS = 60 * 60 * 1000;

export const keyRoll: Command = {
  words: "key roll",
  about: "Makes a key with the name and limits of another, which ends after the overlap. Shows the new one once.",
  usage: "--key ID [--overlap HOURS]",
  options: {
    key: { type: "string", about: "id of the key that ends" },
    overlap: { type: "string", default: "24", about: `hours until it ends, 0 to ${OVERLAP_HOURS_MAX}` },
  },
  required: ["key"],
  example: "key roll --key key_… --overlap 48",
  isRecorded: true,
  run: async (service, values) => {
    const hours = Number(text(values, "overlap"));
    if (!(hours >= 0 && hours <= OVERLAP_HOURS_MAX)) {
      return err(misused(`--overlap must be a number of hours from 0 to ${OVERLAP_HOURS_MAX}.`));
    }
    const id = text(values, "key") as ApiKeyId;
    const { operators } = await service.get(tokens.storeUseCases);
    return (await operators.rollApiKey(id, hours * HOUR_MILLISECONDS))
      .map(({ key, secret, endsAt }) => ({
        json: { key_id: key.id, api_key: secret, old_key_id: id, old_key_ends_at: endsAt.toISOString() },
        lines: [`key ${key.id}`, `${secret}  (shown only once)`, `key ${id} ends at ${endsAt.toISOString()}`],
      }))
      .mapErr((error) =>
        error.kind === "not_found"
          ? notFound(error.message)
          : refused(`Key ${id} is revoked or has expired. Create a new one with panorama key create.`),
      );
  },
};

export const keyRevoke: Command = {
  words: "key revoke",
  about: "Revokes a key, or all keys of an account. They are refused from now on.",
  usage: "--key ID | --account ID",
  options: { key: { type: "string", about: "id of the key, not the key itself" }, ...ACCOUNT },
  required: [],
  example: "key revoke --key key_…",
  isRecorded: true,
  run: async (service, values) => {
    const { accounts, operators } = await service.get(tokens.storeUseCases);
    const account = optionalText(values, "account") as AccountId | undefined;
    const id = optionalText(values, "key") as ApiKeyId | undefined;
    if (account !== undefined && id === undefined) {
      return (await operators.revokeKeys(account))
        .map((revoked) => ({
          json: { account_id: account, revoked },
          lines: [`${revoked} keys of account ${account} are revoked`],
        }))
        .mapErr(({ message }) => notFound(message));
    }
    if (id === undefined || account !== undefined) return err(misused("Give --key, or --account for all of its keys."));
    const revoked = await accounts.revokeAnyApiKey(id);
    return revoked
      .map(() => ({ json: { key_id: id, status: "revoked" }, lines: [`key ${id} is revoked`] }))
      .mapErr(({ message }) => notFound(message));
  },
};
