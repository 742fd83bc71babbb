import * as z from "zod";
import { MODERATION_ANSWERS, type ModeratedPart, type Moderation } from "../../application/ports/moderation.js";
import { ask } from "./ask.js";
import { keyedHash } from "./keyed-hash.js";

/** Where the server is, and the bearer token that it gets. */
export type HttpModerationOptions = { readonly url: string; readonly token: string };

const answerShape = z.object({ answer: z.enum(MODERATION_ANSWERS) });

/** A server of the operator that speaks the contract of README.md in this folder. */
export const httpModeration = ({ url, token }: HttpModerationOptions): Moderation => ({
  hashOf: keyedHash(token),
  judge: async (part, signal) => {
    const answered = await ask({ url, token, body: { input: inputOf(part) } }, answerShape, signal);
    return answered.map(({ answer }) => answer);
  },
});

const inputOf = (part: ModeratedPart) => {
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text };
    case "image_url":
      return { type: "image_url", url: part.url };
    case "image":
      return { type: "image", media_type: part.type, data: Buffer.from(part.bytes).toString("base64") };
  }
};
