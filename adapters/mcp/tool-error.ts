import type { BrokenRule, InvalidRequest } from "../../domain/invalid-request.js";
import type { PublicReason } from "../../domain/tasks/public-reason.js";
import type { ClientError, ClientErrorCode } from "../client/client-error.js";
import type { PanoramaTask } from "../client/resources.js";
import { alternatives, parameterName, rulePredicate } from "../wording/rule-predicate.js";

export type ToolErrorCode = ClientErrorCode | "budget_exceeded" | "generation_failed";

/** The error that a language model reads: what happened, and what to do next. */
export type ToolError = {
  readonly code: ToolErrorCode;
  readonly message: string;
  readonly what_to_do: string;
  readonly may_have_been_charged?: true;
  readonly retry_after_seconds?: number;
  readonly status?: number;
  readonly request_id?: string;
};

const NOTHING_SENT = "Nothing was sent and nothing was charged.";

/** @param whatToDo sentences; that nothing was sent is added */
export const invalidArguments = (message: string, whatToDo: string): ToolError => ({
  code: "invalid_request",
  message,
  what_to_do: `${whatToDo} ${NOTHING_SENT}`,
});

/** The error for arguments that break a rule of the REST interface, in its words. */
export const refusedArguments = (refusal: InvalidRequest, argument = parameterName(refusal)): ToolError =>
  invalidArguments(
    `${argument ?? "arguments"}: ${rulePredicate(refusal.rule)}`,
    correctionOf(argument ?? "arguments", refusal.rule),
  );

const OTHER_IMAGE =
  "Use another image: ask the person for a JPEG, PNG or WebP file that opens in an image viewer, and upload that one.";

/** Advice how to keep the rule at the next call. */
function correctionOf(argument: string, rule: BrokenRule): string {
  switch (rule.name) {
    case "one_of":
      return `Call the tool again with ${argument} ${alternatives(rule.allowed)}.`;
    case "integer":
      return `Call the tool again with ${argument} from ${rule.min} to ${rule.max}.`;
    case "type": {
      const kind = { string: "one string", strings: "an array of strings", object: "an object" }[rule.expected];
      return `Call the tool again with ${argument} as ${kind}.`;
    }
    case "characters_max":
      return `Shorten ${argument} to at most ${rule.max} characters and call the tool again.`;
    case "prompt_without_images":
      return `Call the tool again with a prompt of at least ${rule.min} characters: place, light, mood, style.`;
    case "prompt_or_images":
      return "Call generate_panorama_from_text with a prompt.";
    case "items_max":
      return `Call the tool again with at most ${rule.max} ${rule.max === 1 ? "item" : "items"} in ${argument}.`;
    case "images_only":
      return "Call generate_panorama_from_images instead, with image_urls.";
    case "text_only":
      return "Call generate_panorama_from_text instead, without image_urls.";
    case "https_url":
    case "public_host":
    case "no_user_info":
      return (
        "Call the tool again with a public https:// URL. If the person has the image as a file, call " +
        "upload_reference_images with its path and use the URL that it returns."
      );
    case "bytes_max":
    case "total_bytes_max":
      return "Ask the person for a smaller image, and upload that one.";
    case "image_type":
    case "declared_type":
    case "usable_image":
      return OTHER_IMAGE;
    default:
      return `Correct ${argument} as the message says and call the tool again.`;
  }
}

/** `affordable`: the largest resolution within `max_credits`, if there is one. */
export const budgetExceeded = (message: string, affordable?: string): ToolError => ({
  code: "budget_exceeded",
  message,
  what_to_do: `${
    affordable === undefined
      ? "Ask the person whether you may raise max_credits."
      : `Call the tool again with resolution "${affordable}", or ask the person whether you may raise max_credits.`
  } No task was created and nothing was charged.`,
});

/** @param site URL of the service's web pages */
export const toolErrorOf = (error: ClientError, site: string): ToolError => ({
  code: error.code,
  message: error.message,
  what_to_do: error.mayHaveBeenAccepted ? afterPossibleCharge(site) : guidance(error, site),
  ...(error.mayHaveBeenAccepted ? { may_have_been_charged: true } : {}),
  ...(error.retryAfterSeconds === undefined ? {} : { retry_after_seconds: error.retryAfterSeconds }),
  ...(error.status === undefined ? {} : { status: error.status }),
  ...(error.requestId === undefined ? {} : { request_id: error.requestId }),
});

const afterPossibleCharge = (site: string): string =>
  "The panorama may have been accepted and charged. To find out, call this tool again with exactly the same arguments: " +
  "it reuses the idempotency key of this call, so the panorama is never charged twice. If that fails too, tell the " +
  `person: ${site}/works and the resource panorama://recent show whether it exists. ` +
  "Do not change the arguments before that.";

const guidance = (error: ClientError, site: string): string => {
  switch (error.code) {
    case "invalid_request":
      return `${guidanceOn(error.param)} Nothing was charged.`;
    case "invalid_api_key":
      return (
        `Ask the person to create a valid key at ${site}/account, to set it as PANORAMA_API_KEY in the configuration of ` +
        "this MCP server, and to restart the server. Never ask for the key in the chat."
      );
    case "insufficient_credits":
      return `Tell the person what the message says: credits can be bought at ${site}/account. If they are only too few, a lower resolution costs less; get_credit_balance says how many are left.`;
    case "not_found":
      return "Read the resource panorama://recent for the ids of this account. If the panorama is not there, tell the person.";
    case "rate_limited":
      return `Wait ${error.retryAfterSeconds ?? 60} seconds, then call the tool again.`;
    case "too_many_active_tasks":
      return (
        "Wait 30 seconds until one of the tasks in processing finishes (get_panorama_task), then call the tool again. " +
        "Nothing was charged."
      );
    case "upstream_error":
      return `${AFTER_REASON[error.reason as PublicReason] ?? ONCE_MORE} Nothing was charged.`;
    case "aborted":
      return "Tell the person that the call was cancelled. Call the tool again only if they still want the result.";
    case "unexpected_answer":
      return (
        "Ask the person to check PANORAMA_BASE_URL and the proxy variables in the configuration of this MCP server, or " +
        "to try again later."
      );
    case "timeout":
    case "network_error":
    case "internal_error":
      return (
        "Wait 10 seconds, then call the tool again once: this call charged nothing. If it fails again, tell the person " +
        "that the service is unavailable."
      );
  }
};

/** Refusal by the service, although the arguments have the right form. `param` may be of an upload. */
function guidanceOn(param: string | undefined): string {
  // The tool has chosen the key, and the next call chooses another.
  if (param === "Idempotency-Key") return "Call the tool again with the same arguments for a new panorama.";
  if (param?.startsWith("image_urls"))
    return `Upload the image of ${param} with upload_reference_images and use its new URL, or leave it out.`;
  if (param?.startsWith("files")) return "Tell the person what the message says, and ask for another image.";
  return `Correct ${param ?? "the arguments"} as the message says and call the tool again.`;
}

/** Advice after a failed generation. The message of the task says that the credits are refunded. */
export const afterFailure = ({ error }: Extract<PanoramaTask, { status: "failed" }>): string =>
  AFTER_REASON[error.reason as PublicReason] ?? AFTER_REASON.provider_failed;

const ONCE_MORE = "Wait 30 seconds, then create the panorama once more. If it fails again, tell the person.";
const OTHER_REFERENCE =
  "Upload the image with upload_reference_images, then create the panorama again with the URL that it returns.";

/** Total by construction: a reason without a next step does not compile. */
const AFTER_REASON: Readonly<Record<PublicReason, string>> = {
  canceled: "Tell the person that the panorama was cancelled. Create it again only if they ask for it.",
  queue_timeout: ONCE_MORE,
  reference_unreachable: OTHER_REFERENCE,
  reference_unusable: OTHER_IMAGE,
  content_refused: "Tell the person what was refused, and ask for another description or another image.",
  provider_refused:
    "Change the prompt, or use other images, then create the panorama again. Tell the person what you changed.",
  provider_failed: ONCE_MORE,
  provider_unavailable: ONCE_MORE,
  provider_timeout: ONCE_MORE,
  unusable_result: ONCE_MORE,
};
