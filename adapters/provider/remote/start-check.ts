import { err, type Result } from "neverthrow";
import type { ProviderUnavailable } from "../../../application/ports/generation-provider.js";
import { jsonOf } from "./answers/body.js";
import { isKeyRejected } from "./answers/meaning-of.js";
import type { Answer } from "./calls/upstream-http.js";
import type { CheckFailure } from "./remote-options.js";

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
