import { ok, safeTry } from "neverthrow";
import type { KeyWithSpending } from "../../application/accounts/list-api-keys.js";
import type { AccountId } from "../../domain/account-id.js";
import { type ApiKeyId, parseKeyName } from "../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../domain/accounts/key-limits.js";
import { parseKeyLimits } from "../../domain/accounts/parse-key-limits.js";
import { notFound, refused } from "../command-error.js";
import { tokens } from "../tokens.js";
import { ACCOUNT, type Command, optionalText, text } from "./common/command.js";
import { invalidOption } from "./common/invalid-option.js";

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
  const { id, name, createdAt, revokedAt, limits, lastUsedAt } = key;
  const { scopes, expiresAt, creditsPerDay, creditsPerMonth } = limits;
  const of = (budget: number | undefined): string => (budget === undefined ? "" : ` of ${budget}`);
  return [
    id,
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

export const keyRevoke: Command = {
  words: "key revoke",
  about: "Revokes a key. It is refused from now on.",
  usage: "--key ID",
  options: { key: { type: "string", about: "id of the key, not the key itself" } },
  required: ["key"],
  example: "key revoke --key key_…",
  isRecorded: true,
  run: async (service, values) => {
    const { accounts } = await service.get(tokens.storeUseCases);
    const id = text(values, "key") as ApiKeyId;
    const revoked = await accounts.revokeAnyApiKey(id);
    return revoked
      .map(() => ({ json: { key_id: id, status: "revoked" }, lines: [`key ${id} is revoked`] }))
      .mapErr(({ message }) => notFound(message));
  },
};
