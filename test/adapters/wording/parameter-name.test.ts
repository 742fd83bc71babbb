import { expect, it } from "vitest";
import { parameterName } from "../../../adapters/wording/rule-predicate.js";
import { invalidRequest, WHOLE_BODY } from "../../../domain/invalid-request.js";

it("parameterName names a field, or one item of it, and returns undefined for the whole body", () => {
  const rule = { name: "storable_text" } as const;
  expect(parameterName(invalidRequest("prompt", rule))).toBe("prompt");
  expect(parameterName(invalidRequest("image_urls", rule, 0))).toBe("image_urls[0]");
  expect(parameterName(invalidRequest("image_urls", rule, 2))).toBe("image_urls[2]");
  expect(parameterName(invalidRequest(WHOLE_BODY, rule))).toBeUndefined();
});
