import type { InferEntity } from "@mikro-orm/core";
import type { ApiKey } from "../../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../../domain/accounts/key-limits.js";
import type { AccountId } from "../../../domain/ids.js";
import { rowOf } from "../database/orm/entities.js";
import { ApiKeyTable } from "../database/schema/schema.js";
import { branded, date, optional, text } from "../database/sql/columns.js";
import { toKeyLimits } from "./account-rows.js";

export const toApiKey = (key: InferEntity<typeof ApiKeyTable>): ApiKey => ({
  id: branded<ApiKey["id"]>(key, "id"),
  accountId: branded<AccountId>(key, "accountId"),
  name: text(key, "name"),
  secretSha256: text(key, "secretSha256"),
  createdAt: date(key, "createdAt"),
  revokedAt: optional(key, "revokedAt", date),
  limits: toKeyLimits(rowOf(ApiKeyTable, key)),
  lastUsedAt: optional(key, "lastUsedAt", date),
  prefix: text(key, "prefix"),
});

export const newApiKey = ({ limits, ...key }: ApiKey) => ({ ...key, ...limitsOf(limits) });

export const limitsOf = ({ scopes, expiresAt, creditsPerDay, creditsPerMonth }: KeyLimits) => ({
  scopes: scopes.join(","),
  expiresAt: expiresAt ?? null,
  creditsPerDay: creditsPerDay ?? null,
  creditsPerMonth: creditsPerMonth ?? null,
});
