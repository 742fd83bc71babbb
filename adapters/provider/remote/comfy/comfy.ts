import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type {
  Cancellation,
  GenerationOrder,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import { unavailable } from "../../unavailable.js";
import { jsonOf, nonEmpty, parseBody } from "../answers/body.js";
import { failedAs } from "../answers/failed-as.js";
import { isKeyRejected, meaningOf } from "../answers/meaning-of.js";
import { succeededWith } from "../answers/succeeded-with.js";
import type { CancelCalls, CreationContext, Dialect, Read, Report } from "../dialect.js";
import { ofImage } from "../images/reference-failure.js";
import type { CheckFailure } from "../remote-options.js";
import { misconfigured, unchecked } from "../start-check.js";
import { uuidOf } from "../uuid-of.js";
import type { NamedWorkflow } from "../workflows/bundled-workflows.js";
import { abilitiesOf, filled, type Nodes } from "../workflows/workflow.js";
import { workflowText } from "../workflows/workflow-text.js";
import { type AssetReference, uploadedAsset } from "./comfy-asset.js";
import { causeOf, codeOf, mayHaveStarted, problemOf } from "./comfy-errors.js";

const JOBS = "/api/v2/jobs";
/** No job has it. */
const NIL_UUID = "00000000-0000-0000-0000-000000000000";

const createdSchema = z.object({ id: nonEmpty });
const jobSchema = z.object({
  status: z.string(),
  outputs: z.array(z.object({ node_id: z.string(), type: z.string(), url: nonEmpty })).default([]),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});
type Job = z.infer<typeof jobSchema>;

export type ComfySettings = {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** `undefined` for a proxy of the operator's own that asks for none. */
  readonly apiKey: string | undefined;
  readonly workflow: NamedWorkflow;
};

/**
 * Comfy API v2: Comfy Cloud, a deployment at Comfy, or `comfy-api-proxy` before a server of the operator's own. It
 * takes no id of ours and lists no jobs, so a lost creation is not found again. Its `Idempotency-Key` only keeps a
 * creation that arrives twice from being run and paid for twice.
 */
export const comfy = ({ baseUrl, apiKey, workflow }: ComfySettings): Dialect => {
  const { nodes, name: model } = workflow;
  const authorization: Readonly<Record<string, string>> =
    apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return {
    name: "comfy",
    model,
    baseUrl,
    authorization,
    resultHeaders: authorization,
    // `concurrencyMax` is that of the smallest plan; others have 3 or 5. The rate limit is not documented.
    defaults: { callsPerSecond: 10, pauseSeconds: 10, concurrencyMax: 1 },

    abilities: () => abilitiesOf(workflow),
    check,

    creation: (order, context) => ({
      path: JOBS,
      headers: { "idempotency-key": idempotencyKeyOf(order) },
      body: () => inputOf(nodes, order, context),
    }),

    causeOf,
    mayHaveStarted,
    misunderstood: (refusal) => problemOf(refusal, nodes),

    upstreamTaskIdOf(body) {
      const { data } = createdSchema.safeParse(body);
      return data === undefined ? err({ kind: "unknown", reason: "the answer has no job id" }) : ok(data.id);
    },

    pollPath: jobPath,
    reportOf: (body) => parseBody(jobSchema, "a job", body).map((job) => reportOfJob(job, nodes, baseUrl)),
    cancel,
  };
};

/** One for each submission: it is not certain that the key of a refused one can be used again. */
export const idempotencyKeyOf = ({ taskId, submission = 0 }: GenerationOrder): string =>
  uuidOf(`${taskId} ${submission}`);

const jobPath = (jobId: string): string => `${JOBS}/${encodeURIComponent(jobId)}`;

/** No call checks the key alone. A read of a job that does not exist is answered with 404 if the key is right. */
const check = async (read: Read): Promise<Result<void, CheckFailure>> => {
  const answer = await read(jobPath(NIL_UUID));
  if (answer.isErr()) return err(unchecked(answer.error.reason));
  const { status } = answer.value;
  if (isKeyRejected(answer.value)) {
    const problem = `the provider does not accept this key (status ${status})`;
    return err(misconfigured(`COMFY_API_KEY: ${problem}; set a valid one`));
  }
  if (status !== 404) return err(unchecked(jsonOf(answer.value).match(() => "the answer is not a 404", reasonOf)));
  if (codeOf(answer.value) !== undefined) return ok(undefined);
  return err(misconfigured("COMFY_BASE_URL: there is no Comfy API v2 below this URL; leave out /api"));
};

const reasonOf = ({ reason }: ProviderUnavailable): string => reason;

const inputOf = async (
  nodes: Nodes,
  order: GenerationOrder,
  context: CreationContext,
): Promise<Result<unknown, string | SubmissionFailure>> => {
  const images: AssetReference[] = [];
  for (const [index, url] of order.request.imageUrls.entries()) {
    const uploaded = (await uploadedAsset(url, context)).mapErr(ofImage(index));
    if (uploaded.isErr()) return err(uploaded.error);
    images.push(uploaded.value);
  }
  return ok({ workflow: filled(nodes, { text: workflowText(order, context), images }) });
};

const reportOfJob = ({ status, outputs, error }: Job, nodes: Nodes, baseUrl: string): Report => {
  switch (status) {
    case "queued":
    case "running":
    case "canceling":
      return { state: "running" };
    case "succeeded":
      return reportOfOutputs(outputs, nodes, baseUrl);
    case "canceled":
    case "failed":
    case "expired":
      return failedAs(status, error && [error.code, error.message]);
    default:
      return { state: "unknown", status };
  }
};

/** A saved image rather than a preview. Its URL may be relative to the host. */
const reportOfOutputs = (outputs: Job["outputs"], nodes: Nodes, baseUrl: string): Report => {
  const images = outputs.filter(({ type }) => type === "image");
  const isPreview = (nodeId: string) => /preview/i.test(nodes[nodeId]?.class_type ?? "");
  const image = images.find(({ node_id }) => !isPreview(node_id)) ?? images[0];
  if (image === undefined) {
    return { state: "uncertain", reason: "succeeded, but without an image", duringGracePeriod: "running" };
  }
  return succeededWith(URL.canParse(image.url, baseUrl) ? new URL(image.url, baseUrl).href : image.url);
};

/** Only while it waits: GPU seconds of a job that has started are billed. */
const cancel = async (
  jobId: string,
  { read, confirm, change }: CancelCalls,
): Promise<Result<Cancellation, ProviderUnavailable>> => {
  const before = await statusOf(jobId, read);
  if (before.isErr() || before.value !== "queued") return before.map(() => "too_late");
  const answer = await change("POST", `${jobPath(jobId)}/cancel`);
  if (answer.isErr()) return err(answer.error);
  if (answer.value.status >= 300) return err(unavailable(meaningOf(answer.value)));
  const after = await confirm(
    () => statusOf(jobId, read),
    (status) => status === "queued" || status === "canceling",
  );
  return after.map((status) => (status === "canceled" ? "canceled" : "too_late"));
};

const statusOf = async (jobId: string, read: Read): Promise<Result<string, ProviderUnavailable>> =>
  (await read(jobPath(jobId)))
    .andThen(jsonOf)
    .andThen((body) => parseBody(jobSchema, "a job", body))
    .map(({ status }) => status);
