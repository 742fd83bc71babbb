import { err, ok, type Result } from "neverthrow";
import type { Unauthenticated } from "../replies/errors.js";
import type { SentRequest } from "../request-source.js";

/** The headers of which a server keeps all values that differ, joined as lists are. */
export const CREDENTIALS = ["authorization", "x-api-key"] as const;

/** The value of such a header that was sent with `value` before, or not at all, and with `last` now. */
export const joinedCredentials = (value: string | undefined, last: string): string =>
  value === undefined || value === last ? last : `${value}, ${last}`;

/**
 * The API key of a request; `undefined` if it has none. Credentials of another scheme are meant for others, such as a
 * proxy. Of several keys, or several credentials with a key among them, nobody can tell which one counts.
 */
export const secretOf = (request: Pick<SentRequest, "header">): Result<string | undefined, Unauthenticated> => {
  const authorization = request.header("authorization") ?? "";
  const xApiKey = request.header("x-api-key");
  if (/^bearer .*,|, *bearer /i.test(authorization)) return several("Authorization");
  if (xApiKey?.includes(",")) return several("x-api-key");
  const bearer = /^bearer +(\S.*)$/i.exec(authorization)?.[1]?.trimEnd();
  if (bearer === undefined && xApiKey === undefined && hasKey(authorization)) return withoutBearer;
  return bearer !== undefined && xApiKey !== undefined && bearer !== xApiKey ? differ : ok(bearer ?? xApiKey);
};

const refused = (message: string) => err<undefined, Unauthenticated>({ kind: "invalid_api_key", message });

const several = (header: string) =>
  refused(`${header} was sent more than once with different values. Send it once, with one API key.`);

/** Also in `Basic`, in which curl -u sends it. */
const hasKey = (authorization: string): boolean => {
  const [, basic = ""] = /^basic +(\S+)$/i.exec(authorization) ?? [];
  return /\bsk-/.test(authorization) || Buffer.from(basic, "base64").includes("sk-");
};

const withoutBearer = refused(
  'Authorization contains an API key, but not as a Bearer token. Write the word Bearer and a space before the key: "Authorization: Bearer sk-…".',
);

const differ = refused("Authorization and x-api-key contain different API keys. Send only one of them.");
