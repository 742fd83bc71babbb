import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { orThrowBug } from "../../domain/illegal-transition.js";

it("a transition that the types have proved gives its state, and a refusal of it is a bug that names both sides", () => {
  expect(orThrowBug(ok("submitted"))).toBe("submitted");
  expect(() => orThrowBug(err({ kind: "illegal_transition", from: "failed", event: "submit" }))).toThrow(
    '"submit" is no event of the state "failed"',
  );
});
