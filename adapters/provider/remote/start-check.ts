import { err, type Result } from "neverthrow";
import type { ProviderUnavailable } from "../../../application/ports/generation-provider.js";
import { jsonOf } from "./answers/body.js";
import { isKeyRejected } from "./answers/meaning-of.js";
import type { Answer } from "./calls/upstream-http.js";

/**
 * What the check of a provider's settings found when the service starts. `misconfigured`: nothing can work until the
 * operator changes a setting. `unchecked`: the answer says nothing about the settings, as in an outage. `reason` is one
 * line for the operator.
 */
export type CheckFailure = { readonly kind: "misconfigured" | "unchecked"; readonly reason: string };

/** The JSON of a 2xx answer to a call with the API key from the variable `keyVariable`. */
export const checkedJson = (
  answer: Result<Answer, ProviderUnavailable>,
  keyVariable: string,
): Result<unknown, CheckFailure> => {
  if (answer.isOk() && isKeyRejected(answer.value)) {
    const { status } = answer.value;
    return err(
      misconfigured(`${keyVariable}: the provider does not accept this key (status ${status}); set a valid one`),
    );
  }
  return answer.andThen(jsonOf).mapErr(({ reason }) => unchecked(reason));
};

export const misconfigured = (reason: string): CheckFailure => ({ kind: "misconfigured", reason });
export const unchecked = (reason: string): CheckFailure => ({ kind: "unchecked", reason });
