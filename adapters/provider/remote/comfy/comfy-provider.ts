import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type {
  Cancellation,
  CustomersCause,
  GenerationOrder,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import { unavailable } from "../../sound-reference.js";
import {
  bodyIn,
  createdIn,
  failedAs,
  isKeyRejected,
  isModerated,
  jsonOf,
  meaningOf,
  nonEmpty,
  parseBody,
  succeededWith,
} from "../answers/read-answer.js";
import type { Answer } from "../calls/upstream-call.js";
import {
  type CancelCalls,
  type CreationContext,
  type Read,
  type RemoteDialect,
  type Report,
  unchecked,
  uuidOf,
  wrongSetting,
} from "../dialect.js";
import { ofImage, type ReferenceFailure, referenceFile } from "../images/reference-input.js";
import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import {
  type CheckFailure,
  needsComfyKey,
  type OpenProvider,
  REMOTE_DEFAULTS,
  type RemoteOptions,
} from "../remote-options.js";
import { type NamedWorkflow, namedWorkflow } from "../workflows/bundled-workflows.js";
import { abilitiesIn, filled, type Nodes, workflowText } from "../workflows/workflow.js";

/** Options of Comfy API v2. `apiKey` is required for Comfy Cloud and for deployments at Comfy. */
export type ComfyOptions = RemoteOptions & {
  readonly apiKey?: string | undefined;
  /** Comfy Cloud, which is the default, a deployment, or a `comfy-api-proxy` of your own. */
  readonly baseUrl?: string | undefined;
  /**
   * `qwen-image-edit` (the default: from text and up to three images), `qwen-image-360` (from text), or the JSON of
   * another workflow in ComfyUI's API format, with placeholders such as `{prompt}` (PROVIDERS.md).
   */
  readonly workflow?: unknown;
};

/**
 * Opens Comfy API v2. Calls nothing yet: `check` verifies the key. It sends no webhooks. Throws if an option cannot be
 * right.
 */
export const comfyProvider = (options: ComfyOptions): OpenProvider => {
  const apiKey = headerSecret("apiKey", options.apiKey);
  const baseUrl = baseUrlOf(options.baseUrl ?? REMOTE_DEFAULTS.comfy.baseUrl);
  if (apiKey === undefined && needsComfyKey(baseUrl)) throw new TypeError(`apiKey is required for ${baseUrl}.`);
  const workflow = namedWorkflow(options.workflow ?? REMOTE_DEFAULTS.comfy.workflow);
  return openRemote(comfy({ apiKey, baseUrl, workflow }), options, undefined);
};

/** Retention of an uploaded reference image at the provider: a job may wait in its queue. */
const KEPT_SECONDS = 24 * 60 * 60;

const assetSchema = z.object({ id: nonEmpty });

/** The value of a `LoadImage` node. */
type AssetReference = {
  readonly __type: "core/ASSET";
  readonly info: { readonly id: string; readonly file_path: string };
};

/** Uploads a reference image. The provider keeps equal bytes once. */
const uploadedAsset = async (
  url: string,
  context: CreationContext,
): Promise<Result<AssetReference, ReferenceFailure>> => {
  const file = await referenceFile(url, context);
  if (file.isErr()) return err(file.error);
  const { name, type } = file.value;
  const answer = await context.upload("/api/v2/assets", {
    fields: { content_type: type, file_path: name, expires_in: String(KEPT_SECONDS) },
    file: { field: "file", ...file.value },
  });
  return answer.andThen((body) =>
    parseBody(assetSchema, "an asset", body)
      .map(({ id }) => ({ __type: "core/ASSET" as const, info: { id, file_path: name } }))
      .mapErr(({ reason }): ReferenceFailure => `the upload of a reference image: ${reason}`),
  );
};

const errorSchema = z.object({
  error: z.object({
    code: z.string().regex(/^[a-z_]{1,40}$/),
    details: z.object({ node_errors: z.record(z.string(), z.unknown()).catch({}).default({}) }).nullish(),
  }),
});

/** The machine-readable code of an error; `undefined` if the answer has none. */
const codeOf = ({ body }: Answer): string | undefined => errorSchema.safeParse(body).data?.error.code;

/** A key that was used before: the creation that had it may have started a job. */
const mayHaveStarted = (refusal: Answer): boolean => codeOf(refusal) === "idempotency_key_reuse";

const causeOf = (refusal: Answer): CustomersCause | undefined =>
  isModerated(codeOf(refusal)) ? "content_refused" : undefined;

/** Failures that only the operator can fix. Completes a sentence. */
const problemOf = (refusal: Answer, nodes: Nodes): string | undefined => {
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

type ComfySettings = {
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
export const comfy = ({ baseUrl, apiKey, workflow }: ComfySettings): RemoteDialect => {
  const { nodes, name: model } = workflow;
  const authorization: Readonly<Record<string, string>> =
    apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return {
    name: "comfy",
    model,
    baseUrl,
    authorization,
    resultHeaders: authorization,
    // `concurrencyMax`: limit of the smallest plan; others have 3 or 5. The rate limit is not documented.
    defaults: { callsPerSecond: 10, pauseSeconds: 10, concurrencyMax: 1 },

    abilities: () => abilitiesIn(workflow),
    check,

    creation: (order, context) => ({
      path: JOBS,
      headers: { "idempotency-key": idempotencyKeyOf(order) },
      body: () => inputOf(nodes, order, context),
    }),

    causeOf,
    mayHaveStarted,
    misunderstood: (refusal) => problemOf(refusal, nodes),

    upstreamTaskIdOf: (body) => createdIn(createdSchema, "job id", body).map(({ id }) => id),

    pollPath: jobPath,
    reportOf: (body) => parseBody(jobSchema, "a job", body).map((job) => reportOfJob(job, nodes, baseUrl)),
    cancel,
  };
};

/** The idempotency key of a submission. Each has its own: a key of a refused one may not be usable again. */
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
    return err(wrongSetting(`COMFY_API_KEY: ${problem}; set a valid one`));
  }
  if (status !== 404) return err(unchecked(jsonOf(answer.value).match(() => "the answer is not a 404", reasonOf)));
  if (codeOf(answer.value) !== undefined) return ok(undefined);
  return err(wrongSetting("COMFY_BASE_URL: there is no Comfy API v2 below this URL; leave out /api"));
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
  bodyIn(await read(jobPath(jobId)), jobSchema, "a job").map(({ status }) => status);
