import { err, ok, type Result } from "neverthrow";
import type { ApiKey, ApiKeyId, ApiKeySecret } from "../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../domain/accounts/key-limits.js";
import type { AccountId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Secrets } from "../ports/secrets.js";
import type { AccountStore, ApiKeyStore } from "../ports/stores/account-stores.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";

type FindKeyBySecretPorts = {
  readonly operators: Pick<OperatorStore, "keyWithSecret">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** For the operator: the key of any account with this secret, such as a leaked one, even if revoked. */
export const findKeyBySecret =
  ({ operators, secrets }: FindKeyBySecretPorts) =>
  (secret: ApiKeySecret): Promise<ApiKey | undefined> =>
    operators.keyWithSecret(secrets.sha256(secret));

type ChangeKeyLimitsPorts = {
  readonly operators: Pick<OperatorStore, "setKeyLimits">;
  readonly clock: Pick<Clock, "now">;
};

/**
 * For the operator: changes the limits of a key for later requests. `change` receives the present limits. Returns the
 * changed key.
 */
export const changeKeyLimits =
  ({ operators, clock }: ChangeKeyLimitsPorts) =>
  (
    id: ApiKeyId,
    change: (limits: KeyLimits, now: Date) => Result<KeyLimits, InvalidRequest>,
  ): Promise<Result<ApiKey, NotFound | InvalidRequest>> =>
    operators.setKeyLimits(id, (limits) => change(limits, clock.now()));

type RevokeKeysPorts = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly keys: Pick<ApiKeyStore, "listLive" | "revoke">;
  readonly clock: Pick<Clock, "now">;
};

/** For the operator: revokes all keys of an account. Resolves to their number. */
export const revokeKeys =
  ({ accounts, keys, clock }: RevokeKeysPorts) =>
  async (account: AccountId): Promise<Result<number, NotFound>> => {
    if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
    const live = await keys.listLive(account);
    for (const { id } of live) await keys.revoke(id, clock.now());
    return ok(live.length);
  };
