import * as z from "zod";
import type { CustomersCause, FailureCause } from "../../../../application/ports/generation-provider.js";
import type { ImageFault } from "../../../../domain/tasks/task.js";
import { failedAs, isModerated } from "../answers/read-answer.js";
import type { Report } from "../dialect.js";

/** Types of errors that the customer can change (facts: 422, `detail[].type`). */
const CAUSES: Readonly<Record<string, CustomersCause>> = {
  content_policy_violation: "content_refused",
  image_load_error: "reference_unusable",
  file_download_error: "reference_unreachable",
  file_too_large: "reference_unusable",
  image_too_small: "reference_unusable",
  image_too_large: "reference_unusable",
  unsupported_image_format: "reference_unusable",
  face_detection_error: "reference_unusable",
};

/** Problems of a picture, in the customer's words. */
const PROBLEMS: Readonly<Record<string, string>> = {
  image_load_error: "it cannot be decoded",
  file_too_large: "its file is too large for the image generator",
  image_too_small: "it has too few pixels for the image generator",
  image_too_large: "it has too many pixels for the image generator",
  unsupported_image_format: "its format is not supported",
};

/** The model does not understand an input: fal's own types, and those of the library that checks its inputs. */
const MISUNDERSTOOD = new RegExp(
  "^(missing|value_error|one_of|feature_not_supported|extra_forbidden|enum|literal_error|" +
    "(greater|less)_than(_equal)?|multiple_of|(string|sequence|too)_(too_)?(short|long)|" +
    "(string|int|float|bool|list|dict|model|url)_(type|parsing|from_float)|model_attributes_type)$",
);

/** Errors of the provider itself: the same request may work later. */
const PROVIDERS: Readonly<Record<string, FailureCause | undefined>> = {
  generation_timeout: "deadline_passed",
  downstream_service_error: undefined,
  downstream_service_unavailable: "provider_unavailable",
  internal_server_error: undefined,
  no_media_generated: undefined,
};

/** Errors of the platform, before or around the model: `error_type`. */
const PLATFORM: Readonly<Record<string, FailureCause>> = {
  // It has not started within `x-fal-request-timeout`.
  request_timeout: "never_started",
  startup_timeout: "provider_unavailable",
  runner_scheduling_failure: "provider_unavailable",
};

const platformSchema = z.object({ error_type: z.string() });

type Failure = Extract<Report, { readonly state: "failed" } | { readonly state: "misunderstood" }>;

const detailSchema = z.object({
  detail: z.array(
    z.object({
      type: z.string(),
      msg: z.string().optional().catch(undefined),
      loc: z.array(z.unknown()).optional().catch(undefined),
    }),
  ),
});
type Detail = z.infer<typeof detailSchema>["detail"][number];

/** Causes of a model failure. Its texts may repeat the prompt, so only their types and one word are read. */
export const falFailure = (status: string, body: unknown): Failure => {
  const details = detailsOf(body);
  const reason = `the provider ended it as ${status}`;
  if (details.length === 0) {
    const cause = PLATFORM[platformSchema.safeParse(body).data?.error_type ?? ""];
    return cause === undefined ? failedAs(status, body) : { state: "failed", reason, cause };
  }
  const types = details.map(({ type }) => type);
  const cause = causeIn(details);
  if (cause === "content_refused") return { state: "failed", reason: `${reason}: its content rules`, cause };
  if (cause !== undefined) {
    return { state: "failed", reason: `${reason}: a reference image`, cause, ...imageFaultIn(details) };
  }
  const misunderstood = types.filter((type) => MISUNDERSTOOD.test(type));
  if (misunderstood.length > 0) {
    return { state: "misunderstood", reason: `${reason} with ${[...new Set(misunderstood)].join(", ")}` };
  }
  if (!types.every((type) => Object.hasOwn(PROVIDERS, type))) return failedAs(status, types);
  const known = types.map((type) => PROVIDERS[type]).find((one) => one !== undefined);
  return { state: "failed", reason, ...(known !== undefined && { cause: known }) };
};

/** Cause of a refusal, if the customer can change it. */
export const falCause = (body: unknown): CustomersCause | undefined => causeIn(detailsOf(body));

const detailsOf = (body: unknown): readonly Detail[] => detailSchema.safeParse(body).data?.detail ?? [];

const causeIn = (details: readonly Detail[]): CustomersCause | undefined => {
  const causes = details.map(causeOf);
  return causes.find((cause) => cause === "content_refused") ?? causes.find((cause) => cause !== undefined);
};

/** Index of the image in the first of these errors, and its problem. */
const imageFaultIn = (details: readonly Detail[]): ImageFault => {
  const first = details.find((detail) => causeOf(detail) !== undefined);
  const index = first?.loc?.[2];
  const imageProblem = PROBLEMS[first?.type ?? ""];
  return {
    ...(typeof index === "number" && { imageIndex: index }),
    ...(imageProblem !== undefined && { imageProblem }),
  };
};

const causeOf = ({ type, msg = "", loc = [] }: Detail): CustomersCause | undefined => {
  if (type === "no_media_generated" && isModerated(msg)) return "content_refused";
  const cause = CAUSES[type];
  // The weights of a LoRA are a file as well, and not the customer's.
  return cause !== "content_refused" && loc.includes("loras") ? undefined : cause;
};
