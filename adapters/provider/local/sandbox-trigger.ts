/** What a prompt can ask of the local provider, as payment sandboxes do, so that every outcome can be tried. */
const SANDBOX_TRIGGERS = ["fail", "reject", "no-id", "slow", "expired", "storage-fail", "no-thumb"] as const;

export type SandboxTrigger = (typeof SANDBOX_TRIGGERS)[number];

const TRIGGER = new RegExp(`(?<![\\w:-])test:(${SANDBOX_TRIGGERS.join("|")})(?![\\w-])`, "i");

/** The first word of the prompt that is a trigger, such as `test:fail`; punctuation around it does not matter. */
export const sandboxTriggerOf = (prompt: string | undefined): SandboxTrigger | undefined =>
  TRIGGER.exec(prompt ?? "")?.[1]?.toLowerCase() as SandboxTrigger | undefined;
