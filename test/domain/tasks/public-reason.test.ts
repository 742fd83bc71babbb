import { expect, it } from "vitest";
import { apiKeyId, aSucceededTask } from "../../../adapters/contracts/support/builders.js";
import { deletedByKey } from "../../../domain/tasks/out-of-sight.js";
import { publicImageName, publicReason } from "../../../domain/tasks/public-reason.js";

it.each([
  ["queue_timeout", ["never_started"]],
  ["provider_refused", ["refused"]],
  ["provider_unavailable", ["submission_unknown", "never_submitted", "provider_unavailable"]],
  ["provider_failed", ["generation_failed"]],
  ["provider_timeout", ["deadline_passed"]],
  ["unusable_result", ["unusable_result"]],
  ["content_refused", ["content_refused"]],
  ["reference_unreachable", ["reference_unreachable"]],
  ["reference_unusable", ["reference_unusable"]],
  ["canceled", ["canceled"]],
] as const)("%s is the public reason for %j", (told, reasons) => {
  for (const reason of reasons) expect(publicReason({ reason })).toBe(told);
});

it("the image of a hidden panorama has a public name without an object", () => {
  const task = aSucceededTask();
  expect(publicImageName(task)).toBe(task.image.imageName);
  expect(publicImageName({ ...task, hiddenReason: "spam" })).toBe(`panoramas/hidden-${task.slug}.jpg`);
});

it("a panorama that its owner deletes with a key names this key", () => {
  expect(deletedByKey(apiKeyId(7))).toBe(`key ${apiKeyId(7)}`);
});
