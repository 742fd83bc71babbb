import type { ClientError, ClientErrorCode } from "../client/client-error.js";

export type ToolErrorCode = ClientErrorCode | "budget_exceeded";

/** What a language model is told about a call that failed: what happened, and what it can do about it. */
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
  what_to_do: "Choose a lower resolution, or ask the person whether max_credits may be raised.",
});

/** @param site where the service's pages are */
export const toolErrorOf = (error: ClientError, site: string): ToolError => ({
  code: error.code,
  message: error.message,
  what_to_do: error.mayHaveBeenAccepted ? afterDoubt(site) : guidance(error, site),
  ...(error.mayHaveBeenAccepted ? { may_have_been_charged: true } : {}),
  ...(error.retryAfterSeconds === undefined ? {} : { retry_after_seconds: error.retryAfterSeconds }),
  ...(error.status === undefined ? {} : { status: error.status }),
  ...(error.requestId === undefined ? {} : { request_id: error.requestId }),
});

const afterDoubt = (site: string): string =>
  "The panorama may have been accepted and charged. To find out, call this tool again with exactly the same arguments: " +
  "the same creation is continued under its idempotency key, so that it is never charged twice. " +
  `The person can also look at ${site}/works, and get_credit_balance shows whether credits were taken. ` +
  "Do not change the arguments before that.";

const guidance = ({ code, retryAfterSeconds }: ClientError, site: string): string => {
  switch (code) {
    case "invalid_request":
      return "Correct the arguments and call the tool again. Nothing was charged.";
    case "invalid_api_key":
      return (
        "Ask the person to put a valid key, made at " +
        `${site}/account, into PANORAMA_API_KEY in the configuration of this MCP server, and to restart it. ` +
        "Never ask for the key in the chat."
      );
    case "insufficient_credits":
      return `Call get_credit_balance and tell the person. A lower resolution costs less; credits are bought at ${site}/account.`;
    case "not_found":
      return "Check the id: it must be one that a generate tool returned for this account.";
    case "rate_limited":
      return `Wait ${retryAfterSeconds ?? 60} seconds, then call the tool again.`;
    case "too_many_active_tasks":
      return "Wait until one of the running tasks is done (get_panorama_task), then call the tool again. Nothing was charged.";
    case "upstream_error":
      return "The reserved credits are back. Check get_credit_balance, then it is safe to try once more.";
    case "aborted":
      return "The call was cancelled. Call the tool again if it is still wanted.";
    case "unexpected_answer":
      return "Ask the person to check PANORAMA_BASE_URL in the configuration of this MCP server, or try again later.";
    case "timeout":
    case "network_error":
    case "internal_error":
      return "Nothing was charged by this call. Try again in a moment; if it goes on, tell the person that the service is out of reach.";
  }
};
