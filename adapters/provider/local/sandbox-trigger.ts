/**
 * Outcomes that a prompt can request from the local provider, as in payment sandboxes, to test each of them. `plain` is
 * a success with a picture of two colours.
 */
const SANDBOX_TRIGGERS = [
  "fail",
  "content",
  "reference",
  "unreachable",
  "unusable",
  "timeout",
  "queue-timeout",
  "unavailable",
  "reject",
  "no-id",
  "plain",
  "slow",
  "expired",
  "storage-fail",
  "no-thumb",
] as const;

export type SandboxTrigger = (typeof SANDBOX_TRIGGERS)[number];

const TRIGGER = new RegExp(`(?<![\\w:-])test:(${SANDBOX_TRIGGERS.join("|")})(?![\\w-])`, "i");

/** The first trigger in the prompt, such as `test:fail`. It must be a whole word; punctuation around it is ignored. */
export const sandboxTriggerOf = (prompt: string | undefined): SandboxTrigger | undefined =>
  TRIGGER.exec(prompt ?? "")?.[1]?.toLowerCase() as SandboxTrigger | undefined;
