import type { SubmissionFailure } from "../../../../application/ports/generation-provider.js";
import { imageProblemIn } from "../../image-problem.js";

/** Why a reference image cannot be sent: the failure of the creation, or a reason for the log (`Creation.body`). */
export type ReferenceFailure = string | SubmissionFailure;

/** Nothing is sent, because the customer must change a reference image. */
export const unusableReference = (reason: string, imageProblem = imageProblemIn(reason)): SubmissionFailure => ({
  kind: "refused",
  reason,
  cause: "reference_unusable",
  ...(imageProblem !== undefined && { imageProblem }),
});

/** Nothing is sent, because a reference image cannot be read from its URL. */
export const unreachableReference = (reason: string, imageProblem: string): SubmissionFailure => ({
  kind: "refused",
  reason,
  cause: "reference_unreachable",
  imageProblem,
});

/** Says which of the reference images a failure is about, if it is about one. */
export const ofImage =
  (imageIndex: number) =>
  (failure: ReferenceFailure): ReferenceFailure =>
    typeof failure !== "string" && failure.cause?.startsWith("reference_") ? { ...failure, imageIndex } : failure;
