import * as z from "zod";
import type { ModeratedPart, Moderation } from "../../application/ports/moderation.js";
import { ask } from "./ask.js";
import { keyedHash } from "./keyed-hash.js";

/** Where OpenAI is, and what judges there. */
export type OpenAiModerationOptions = {
  /** Without a trailing slash, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
};

const answerShape = z.object({ results: z.array(z.object({ flagged: z.boolean() })).min(1) });

/**
 * OpenAI's `POST /moderations`. What it flags is blocked. Of an image it judges sexual content, violence and self-harm
 * only; a text is judged by all of its categories.
 */
export const openAiModeration = ({ baseUrl, apiKey, model }: OpenAiModerationOptions): Moderation => ({
  hashOf: keyedHash(apiKey),
  judge: async (part, signal) => {
    const body = { model, input: [inputOf(part)] };
    const answered = await ask({ url: `${baseUrl}/moderations`, token: apiKey, body }, answerShape, signal);
    return answered.map(({ results }) => (results.some(({ flagged }) => flagged) ? "block" : "allow"));
  },
});

const inputOf = (part: ModeratedPart) => {
  if (part.kind === "text") return { type: "text", text: part.text };
  const url =
    part.kind === "image_url" ? part.url : `data:${part.type};base64,${Buffer.from(part.bytes).toString("base64")}`;
  return { type: "image_url", image_url: { url } };
};
