import * as z from "zod";
import type { UseCases } from "../../../application/create-application.js";
import type { VisitorLimits } from "../limits/visitor-limits.js";
import { errorBody } from "../replies/errors.js";
import { json } from "../replies/reply.js";
import type { Senders } from "../requests/senders.js";
import type { Handler } from "../routes.js";

export const provenanceResponseSchema = z
  .object({
    made_here: z.boolean().meta({ description: "Whether exactly this file was made here. A changed file was not." }),
    made_at: z.iso.datetime().optional().meta({ format: "date-time", description: "RFC 3339, in UTC." }),
    provider: z.string().optional().meta({ description: "Which image generator has made its picture." }),
  })
  .meta({ id: "ProvenanceResponse" });

type Parts = {
  readonly findFile: UseCases["panoramas"]["findFile"];
  readonly limits: Pick<VisitorLimits, "refuses">;
  readonly senders: Pick<Senders, "networkOf">;
};

/** `GET /provenance/{sha256}`: for everybody, without a key. */
export const provenanceRoute =
  ({ findFile, limits, senders }: Parts): Handler =>
  async (exchange) => {
    const retryAfter = limits.refuses("search", senders.networkOf(exchange));
    if (retryAfter !== undefined) {
      return errorBody(429, "rate_limited", `Too many requests from this network. Retry in ${retryAfter} s.`, {
        headers: { "retry-after": String(retryAfter) },
      });
    }
    const file = await findFile(exchange.parameter("sha256"));
    if (file === "invalid") return errorBody(400, "invalid_request", "sha256 must be 64 hexadecimal digits.");
    const body: z.infer<typeof provenanceResponseSchema> =
      file === undefined
        ? { made_here: false }
        : { made_here: true, made_at: file.madeAt.toISOString(), provider: file.provider };
    return json(200, body, { "access-control-allow-origin": "*" });
  };
