import type { InvalidMessage, MessageRule } from "../../wording/rule-predicate.js";

/** The refusal of an HTTP message whose header or body breaks a rule of its format. */
export const invalidMessage = (field: string, rule: MessageRule, index?: number): InvalidMessage => ({
  kind: "invalid_request",
  field,
  ...(index !== undefined && { index }),
  rule,
});
