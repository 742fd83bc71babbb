import { err, ok, type Result } from "neverthrow";
import type * as z from "zod";
import type { ModerationUnavailable } from "../../application/ports/moderation.js";
import { parseJson } from "../client/requests/check-answer.js";
import { readAtMost } from "../client/requests/read-at-most.js";

const ANSWER_BYTES_MAX = 64 * 1024;

const unavailable = (reason: string) => err<never, ModerationUnavailable>({ kind: "moderation_unavailable", reason });

export type Question = { readonly url: string; readonly token: string | undefined; readonly body: unknown };

/**
 * Sends JSON and reads a JSON answer of this shape. Redirects are not followed, because they would get the token and
 * the customer's text. An answer of any other form counts as none.
 */
export const ask = async <Shape extends z.ZodType>(
  { url, token, body }: Question,
  shape: Shape,
  signal: AbortSignal,
): Promise<Result<z.infer<Shape>, ModerationUnavailable>> => {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      redirect: "manual",
      signal,
    });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      return unavailable(`status ${answer.status}`);
    }
    const bytes = await readAtMost(answer, ANSWER_BYTES_MAX);
    if (bytes === undefined) return unavailable(`the answer has more than ${ANSWER_BYTES_MAX} bytes`);
    const parsed = shape.safeParse(parseJson(Buffer.from(bytes).toString()));
    return parsed.success ? ok(parsed.data) : unavailable("the answer does not have the agreed form");
  } catch (error) {
    const { cause = error } = error as { readonly cause?: unknown };
    return unavailable(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause));
  }
};
