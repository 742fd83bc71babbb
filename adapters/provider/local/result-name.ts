import { randomBytes } from "node:crypto";

/** A temporary name contains the trigger that takes effect at the download, where only the name is known. */
const RESULT_NAME = /^[\w-]{22,}(?:\.(expired|no-thumb|storage-fail))?\.jpg$/;

/** True if the text may be the name of a result. Other text is never used in a path. */
export const isResultName = (name: string): boolean => RESULT_NAME.test(name);

/** A name that cannot be guessed. */
export const freshResultName = (trigger: SandboxTrigger | undefined): string => {
  const lasts = trigger === "expired" || trigger === "no-thumb" || trigger === "storage-fail";
  const suffix = lasts ? `.${trigger}` : "";
  return `${randomBytes(16).toString("base64url")}${suffix}.jpg`;
};

export const triggerIn = (resultName: string): SandboxTrigger | undefined =>
  RESULT_NAME.exec(resultName)?.[1] as SandboxTrigger | undefined;

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
