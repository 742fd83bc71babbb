import type { ClientError, ClientErrorCode } from "../client/client-error.js";

export type ToolErrorCode = ClientErrorCode | "budget_exceeded";

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

export const invalidArguments = (message: string): ToolError => ({
  code: "invalid_request",
  message,
  what_to_do: "Correct the arguments and call the tool again. Nothing was sent and nothing was charged.",
});

export const budgetExceeded = (cost: number, maxCredits: number): ToolError => ({
  code: "budget_exceeded",
  message: `This panorama costs ${cost} credits, which is more than max_credits (${maxCredits}). No task was created and nothing was charged.`,
  what_to_do: "Choose a lower resolution, or ask the person whether you may raise max_credits.",
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
  "it reuses the idempotency key of this call, so the panorama is never charged twice. " +
  `The person can also check ${site}/works, and get_credit_balance shows whether credits were charged. ` +
  "Do not change the arguments before that.";

const guidance = ({ code, param, retryAfterSeconds }: ClientError, site: string): string => {
  switch (code) {
    case "invalid_request":
      // The tool has chosen the key, and the next call chooses another.
      if (param === "Idempotency-Key") return "Call the tool again with the same arguments for a new panorama.";
      return "Correct the arguments and call the tool again. Nothing was charged.";
    case "invalid_api_key":
      return (
        `Ask the person to create a valid key at ${site}/account, to set it as PANORAMA_API_KEY in the configuration of ` +
        "this MCP server, and to restart the server. Never ask for the key in the chat."
      );
    case "insufficient_credits":
      return `Call get_credit_balance and tell the person. A lower resolution costs less. The person can buy credits at ${site}/account.`;
    case "not_found":
      return "Check the id: a generate tool must have returned it for this account.";
    case "rate_limited":
      return `Wait ${retryAfterSeconds ?? 60} seconds, then call the tool again.`;
    case "too_many_active_tasks":
      return "Wait until one of the tasks in processing finishes (get_panorama_task), then call the tool again. Nothing was charged.";
    case "upstream_error":
      return "The reserved credits were refunded. Check get_credit_balance; then it is safe to try again.";
    case "aborted":
      return "The call was cancelled. Call the tool again if the person still wants the result.";
    case "unexpected_answer":
      return "Ask the person to check PANORAMA_BASE_URL in the configuration of this MCP server, or try again later.";
    case "timeout":
    case "network_error":
    case "internal_error":
      return "This call charged nothing. Try again in a moment. If the error persists, tell the person that the service is unavailable.";
  }
};
