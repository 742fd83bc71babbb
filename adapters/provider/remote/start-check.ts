import { err, type Result } from "neverthrow";
import type { ProviderUnavailable } from "../../../application/ports/generation-provider.js";
import { jsonOf, keyRefused } from "./calls/provider-api.js";
import type { Answer } from "./calls/upstream-http.js";

/**
 * What a provider says of our settings when the service starts. `misconfigured`: nothing can work before the operator
 * has changed something. `unchecked`: the answer says nothing about them, as in an outage. `reason` is one line for the
 * operator.
 */
export type CheckFailure = { readonly kind: "misconfigured" | "unchecked"; readonly reason: string };

/** The JSON of a good answer to a call that showed the key in the variable `keyVariable`. */
export const checkedJson = (
  answer: Result<Answer, ProviderUnavailable>,
  keyVariable: string,
): Result<unknown, CheckFailure> => {
  if (answer.isOk() && keyRefused(answer.value)) {
    const { status } = answer.value;
    return err(
      misconfigured(`${keyVariable}: the provider does not accept this key (status ${status}); set a valid one`),
    );
  }
  return answer.andThen(jsonOf).mapErr(({ reason }) => unchecked(reason));
};

export const misconfigured = (reason: string): CheckFailure => ({ kind: "misconfigured", reason });
export const unchecked = (reason: string): CheckFailure => ({ kind: "unchecked", reason });
