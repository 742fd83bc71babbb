import { err, ok, type Result } from "neverthrow";
import type { Unauthenticated } from "../replies/errors.js";
import type { SentRequest } from "../server.js";

/**
 * The API key of a request; `undefined` if it has none. Credentials of another scheme are meant for others, such as a
 * proxy.
 */
export const secretOf = (request: Pick<SentRequest, "header">): Result<string | undefined, Unauthenticated> => {
  const authorization = request.header("authorization");
  const bearer = authorization === undefined ? undefined : /^bearer +(\S.*)$/i.exec(authorization)?.[1]?.trimEnd();
  const xApiKey = request.header("x-api-key");
  return bearer !== undefined && xApiKey !== undefined && bearer !== xApiKey ? differ : ok(bearer ?? xApiKey);
};

const differ = err<undefined, Unauthenticated>({
  kind: "invalid_api_key",
  message: "Authorization and x-api-key contain different API keys. Send only one of them.",
});
