import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type { ProviderUnavailable } from "../../../../application/ports/generation-provider.js";
import { unavailable } from "../../unavailable.js";
import type { Answer } from "../calls/upstream-http.js";
import { meaningOf } from "./meaning-of.js";

/** Not `min(1)`: zod compares the `length` of any object, and throws if that is an object without a number. */
export const nonEmpty = z.string().refine((text) => text !== "");

/** The JSON of a 2xx answer. */
export const jsonOf = (answer: Answer): Result<unknown, ProviderUnavailable> => {
  if (answer.status < 200 || answer.status >= 300) return err(unavailable(meaningOf(answer)));
  return answer.body === undefined ? err(unavailable("the answer is not JSON")) : ok(answer.body);
};

/** The body as `schema` reads it; `what` completes "the answer is not ..." for the log. */
export const parseBody = <T>(schema: z.ZodType<T>, what: string, body: unknown): Result<T, ProviderUnavailable> => {
  const parsed = schema.safeParse(body);
  return parsed.success ? ok(parsed.data) : err(unavailable(`the answer is not ${what}`));
};
