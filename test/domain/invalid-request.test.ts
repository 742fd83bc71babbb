import { expect, it } from "vitest";
import { invalidRequest } from "../../domain/invalid-request.js";

it("invalidRequest names the index of an item only if there is one", () => {
  const rule = { name: "images_only" } as const;
  expect(invalidRequest("body", rule)).toStrictEqual({ kind: "invalid_request", field: "body", rule });
  expect(invalidRequest("files", rule, 0)).toStrictEqual({ kind: "invalid_request", field: "files", index: 0, rule });
});
