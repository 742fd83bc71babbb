import * as z from "zod";
import type { CustomersCause } from "../../../../application/ports/generation-provider.js";
import { isModerated } from "../answers/failed-as.js";
import type { Answer } from "../calls/upstream-http.js";
import type { Nodes } from "../workflows/workflow.js";

const errorSchema = z.object({
  error: z.object({
    code: z.string().regex(/^[a-z_]{1,40}$/),
    details: z.object({ node_errors: z.record(z.string(), z.unknown()).catch({}).default({}) }).nullish(),
  }),
});

/** The machine-readable code of an error; `undefined` if the answer has none. */
export const codeOf = ({ body }: Answer): string | undefined => errorSchema.safeParse(body).data?.error.code;

/** A key that was used before: the creation that had it may have started a job. */
export const mayHaveStarted = (refusal: Answer): boolean => codeOf(refusal) === "idempotency_key_reuse";

export const causeOf = (refusal: Answer): CustomersCause | undefined =>
  isModerated(codeOf(refusal)) ? "content_refused" : undefined;

/** What only the operator can change. Completes a sentence. */
export const problemOf = (refusal: Answer, nodes: Nodes): string | undefined => {
  const { data } = errorSchema.safeParse(refusal.body);
  const isAboutInput = refusal.status === 400 || refusal.status === 422;
  if (data === undefined || !isAboutInput || causeOf(refusal) !== undefined) return undefined;
  const { code, details } = data.error;
  if (code === "deployment_stopped") return "COMFY_BASE_URL: the deployment is stopped; start it, or set another one";
  if (code === "missing_asset") return "it does not know a reference image that was uploaded just before";
  const classes = Object.keys(details?.node_errors ?? {}).flatMap((id) => nodes[id]?.class_type ?? []);
  const where = classes.length === 0 ? "" : ` in ${[...new Set(classes)].join(", ")}`;
  return code === "invalid_workflow"
    ? `COMFY_WORKFLOW: it has no such nodes, files or inputs${where} (invalid_workflow)`
    : `it does not understand the creation${where} (${code})`;
};
