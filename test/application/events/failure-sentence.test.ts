import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aFailedTask } from "../../../adapters/contracts/support/builders.js";
import {
  failedCreationSentence,
  failedParam,
  failureMessage,
  failureSentence,
} from "../../../application/events/failure-sentence.js";
import { PUBLIC_REASONS, publicReason } from "../../../domain/tasks/public-reason.js";
import { FAILURE_REASONS, type FailedTask, type FailureReason } from "../../../domain/tasks/task.js";

const failed = (
  reason: FailureReason,
  {
    prompt,
    images = 0,
    imageIndex,
    imageProblem,
  }: { prompt?: string; images?: number; imageIndex?: number; imageProblem?: string } = {},
): FailedTask => {
  const task = aFailedTask({ reason, imageIndex, imageProblem });
  const imageUrls = Array.from({ length: images }, (_, n) => `https://pictures.example/${n}.jpg`);
  return { ...task, request: { ...task.request, prompt, imageUrls } as FailedTask["request"] };
};

/** Any failed task: also one whose texts are erased. */
const anyFailed = fc
  .record(
    {
      reason: fc.constantFrom(...FAILURE_REASONS),
      prompt: fc.string({ minLength: 1 }),
      images: fc.integer({ min: 0, max: 3 }),
      imageIndex: fc.integer({ min: 0, max: 2 }),
    },
    { requiredKeys: ["reason"] },
  )
  .map(({ reason, ...rest }) => failed(reason, rest));

describe("the error of a failed task", () => {
  it("maps at least one task reason to each client reason", () => {
    const told = FAILURE_REASONS.map((reason) => publicReason({ reason }));
    expect([...new Set(told)].sort()).toEqual([...PUBLIC_REASONS].sort());
  });

  it("names the refunded credits and a remedy, and quotes neither prompt nor URL", () => {
    fc.assert(
      fc.property(anyFailed, (task) => {
        const message = failureMessage(task);
        expect(message).toMatch(
          /^[A-Z][^\n]+\. (Try|Upload|Change|To have it all the same)[^\n]+\. The 4 reserved credits were refunded\.$/,
        );
        expect(message.length).toBeLessThanOrEqual(200);
        expect(message).not.toContain("pictures.example");
      }),
    );
  });

  it("failedParam returns prompt, image_urls or image_urls[n]", () => {
    fc.assert(
      fc.property(anyFailed, (task) => {
        expect(failedParam(task) ?? "none").toMatch(/^(none|prompt|image_urls|image_urls\[[0-2]\])$/);
      }),
    );
  });

  it.each([
    ["reference_unusable", { images: 3, imageIndex: 1 }, "image_urls[1]", "could not use reference image 2."],
    ["reference_unusable", { images: 2 }, "image_urls", "could not use a reference image."],
    ["reference_unreachable", { images: 1 }, "image_urls[0]", "picture of a reference image could not be read."],
    ["reference_unreachable", { imageIndex: 2 }, "image_urls[2]", "picture of a reference image could not be read."],
    [
      "reference_unreachable",
      { images: 2, imageIndex: 1, imageProblem: "its host answered with status 404" },
      "image_urls[1]",
      "The picture of reference image 2 could not be read: its host answered with status 404. Upload it,",
    ],
    [
      "reference_unusable",
      { images: 1, imageProblem: "it has more than 10 MiB, the limit" },
      "image_urls[0]",
      "could not use a reference image: it has more than 10 MiB, the limit. Try another",
    ],
    ["content_refused", { prompt: "a lake" }, "prompt", "Change the prompt."],
    ["content_refused", { prompt: "a lake", images: 1 }, undefined, "Change the prompt or the reference images."],
    ["content_refused", { images: 1 }, undefined, "Change the reference images."],
    ["content_refused", {}, undefined, "Change the prompt."],
    ["generation_failed", { prompt: "a lake", images: 1 }, undefined, "failed to make the panorama."],
    ["canceled", {}, undefined, "was canceled."],
    ["never_started", {}, undefined, "waited too long for its turn."],
    ["refused", { prompt: "a lake" }, undefined, "did not accept the panorama."],
    ["provider_unavailable", {}, undefined, "does not work at the moment."],
    ["deadline_passed", {}, undefined, "did not finish in time."],
  ] as const)("of %s with %j: the parameter %s, and %j", (reason, given, param, words) => {
    const task = failed(reason, given);
    expect(failedParam(task)).toBe(param);
    expect(failureSentence(task)).toContain(words);
    expect(failedCreationSentence(task)).toBe(`${failureSentence(task)} No credits are charged for it.`);
  });
});
