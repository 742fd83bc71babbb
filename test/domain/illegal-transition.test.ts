import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { legal } from "../../domain/illegal-transition.js";

it("a transition that the types have proved gives its state, and a refusal of it is a bug that names both sides", () => {
  expect(legal(ok("submitted"))).toBe("submitted");
  expect(() => legal(err({ kind: "illegal_transition", from: "failed", event: "submit" }))).toThrow(
    '"submit" is no event of the state "failed"',
  );
});
