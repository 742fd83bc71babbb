import { ok, safeTry } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { type ApiKeyId, parseKeyName } from "../../domain/api-key.js";
import { tokens } from "../tokens.js";
import { type Command, optionalText, text } from "./command.js";
import { optionMessage } from "./option-message.js";

export const keyCreate: Command = {
  words: "key create",
  usage: "--account ID [--name N]",
  options: { account: { type: "string" }, name: { type: "string" } },
  required: ["account"],
  run: (service, values) =>
    safeTry(async function* () {
      const name = yield* parseKeyName(optionalText(values, "name") ?? "key").mapErr(optionMessage);
      const createApiKey = await service.get(tokens.createApiKey);
      const accountId = text(values, "account") as AccountId;
      const created = await createApiKey(accountId, name);
      const { key, secret } = yield* created.mapErr((refusal) =>
        refusal.kind === "no_paid_order"
          ? `Account ${accountId} has no paid order.`
          : `Account ${accountId} already has ${refusal.limit} keys, the maximum. Revoke one first.`,
      );
      return ok({
        json: { key_id: key.id, api_key: secret },
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
    const listApiKeys = await service.get(tokens.listApiKeys);
    const listed = await listApiKeys(text(values, "account") as AccountId);
    return listed
      .map((keys) => ({
        json: {
          keys: keys.map((key) => ({
            key_id: key.id,
            name: key.name,
            created_at: key.createdAt.toISOString(),
            revoked_at: key.revokedAt?.toISOString() ?? null,
          })),
        },
        lines: keys.map(({ id, name, createdAt, revokedAt }) =>
          [id, createdAt.toISOString(), revokedAt ? `revoked ${revokedAt.toISOString()}` : "active", name].join("  "),
        ),
      }))
      .mapErr(({ message }) => message);
  },
};

export const keyRevoke: Command = {
  words: "key revoke",
  usage: "--key ID",
  options: { key: { type: "string" } },
  required: ["key"],
  run: async (service, values) => {
    const revokeAnyApiKey = await service.get(tokens.revokeAnyApiKey);
    const id = text(values, "key") as ApiKeyId;
    const revoked = await revokeAnyApiKey(id);
    return revoked
      .map(() => ({ json: { key_id: id, status: "revoked" }, lines: [`key ${id} is revoked`] }))
      .mapErr(({ message }) => message);
  },
};
