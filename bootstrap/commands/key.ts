import { ok, safeTry } from "neverthrow";
import type { KeyWithSpending } from "../../application/accounts/list-api-keys.js";
import type { AccountId } from "../../domain/account.js";
import { type ApiKeyId, parseKeyName } from "../../domain/api-key.js";
import type { KeyLimits } from "../../domain/key-limits.js";
import { parseKeyLimits } from "../../domain/parse-key-limits.js";
import { tokens } from "../tokens.js";
import { type Command, optionalText, text } from "./command.js";
import { optionMessage } from "./option-message.js";

export const keyCreate: Command = {
  words: "key create",
  usage:
    "--account ID [--name N] [--scopes read,create] [--expires-at TIME] [--credits-per-day N] [--credits-per-month N]",
  options: {
    account: { type: "string" },
    name: { type: "string" },
    scopes: { type: "string" },
    "expires-at": { type: "string" },
    "credits-per-day": { type: "string" },
    "credits-per-month": { type: "string" },
  },
  required: ["account"],
  run: (service, values) =>
    safeTry(async function* () {
      const name = yield* parseKeyName(optionalText(values, "name") ?? "key").mapErr(optionMessage);
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
      ).mapErr(optionMessage);
      const { accounts } = await service.get(tokens.storeUseCases);
      const accountId = text(values, "account") as AccountId;
      const created = await accounts.createApiKey(accountId, name, limits);
      const { key, secret } = yield* created.mapErr((refusal) =>
        refusal.kind === "no_paid_order"
          ? `Account ${accountId} has no paid order.`
          : `Account ${accountId} already has ${refusal.limit} keys, the maximum. Revoke one first.`,
      );
      return ok({
        json: { key_id: key.id, api_key: secret, ...limitsJson(limits) },
        lines: [`key ${key.id}`, `${secret}  (shown only once)`],
      });
    }),
};

export const keyList: Command = {
  words: "key list",
  usage: "--account ID",
  options: { account: { type: "string" } },
  required: ["account"],
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
      .mapErr(({ message }) => message);
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

export const keyRevoke: Command = {
  words: "key revoke",
  usage: "--key ID",
  options: { key: { type: "string" } },
  required: ["key"],
  run: async (service, values) => {
    const { accounts } = await service.get(tokens.storeUseCases);
    const id = text(values, "key") as ApiKeyId;
    const revoked = await accounts.revokeAnyApiKey(id);
    return revoked
      .map(() => ({ json: { key_id: id, status: "revoked" }, lines: [`key ${id} is revoked`] }))
      .mapErr(({ message }) => message);
  },
};
