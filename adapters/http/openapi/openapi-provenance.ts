import * as z from "zod";
import type { ZodOpenApiOperationObject } from "zod-openapi";
import { provenanceResponseSchema } from "../routes/provenance-route.js";
import { requestId } from "./openapi-answers.js";
import type { Described } from "./openapi-panoramas.js";

const EXAMPLE = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

export const readProvenance = ({ answers }: Described): ZodOpenApiOperationObject => ({
  operationId: "readProvenance",
  tags: ["Provenance"],
  summary: "Ask whether a file was made here",
  description:
    "For everybody, without an API key. The answer says only whether, when and by which image generator exactly this file was made, also after it was deleted. Too many requests of one network are refused with 429.",
  security: [],
  requestParams: {
    path: z.object({
      sha256: z
        .string()
        .regex(/^[0-9A-Fa-f]{64}$/)
        .meta({ description: "The SHA-256 of the file, as hexadecimal digits.", example: EXAMPLE }),
    }),
  },
  responses: {
    200: {
      description: "The answer.",
      headers: z.object({ "X-Request-Id": requestId }),
      content: {
        "application/json": {
          schema: provenanceResponseSchema,
          example: { made_here: true, made_at: "2026-11-22T10:15:41.000Z", provider: "fal" },
        },
      },
    },
    ...answers.refusals(400, 429, 500),
  },
});
