/** What a prompt can ask of the local provider, as payment sandboxes do, so that every outcome can be tried. */
export const SANDBOX_TRIGGERS = ["fail", "reject", "no-id", "slow", "expired", "storage-fail", "no-thumb"] as const;

export type SandboxTrigger = (typeof SANDBOX_TRIGGERS)[number];

/** The first word of the prompt that is a trigger, such as `test:fail`. */
export const sandboxTriggerOf = (prompt: string | undefined): SandboxTrigger | undefined => {
  const words = (prompt ?? "").toLowerCase().split(/\s+/);
  return words.map((word) => SANDBOX_TRIGGERS.find((trigger) => word === `test:${trigger}`)).find(Boolean);
};
