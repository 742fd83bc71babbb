import { describe, expect, it } from "vitest";
import { falCause, falFailure } from "../../../../../adapters/provider/remote/fal/fal-failure.js";

const STATUS = "COMPLETED with status 422";
const REASON = `the provider ended it as ${STATUS}`;
const CONTENT = { state: "failed", reason: `${REASON}: its content rules`, cause: "content_refused" };
const REFERENCE = {
  state: "failed",
  reason: `${REASON}: a reference image`,
  cause: "reference_unusable",
  imageIndex: 1,
};

const bodyOf = (type: string, msg = "No: a lake with a policy", loc: unknown[] = ["body", "prompt"]) => ({
  detail: [{ loc, msg, type, url: "https://docs.fal.ai", input: "a lake with a policy" }],
});

describe("falFailure", () => {
  it.each([
    bodyOf("content_policy_violation"),
    bodyOf("no_media_generated", "Unsafe content."),
    { detail: "The content was flagged by the safety checker." },
    // The customer's cause is preferred when there are several errors.
    { detail: [...bodyOf("missing").detail, ...bodyOf("content_policy_violation").detail] },
  ])("takes refused content for the customer's cause: %j", (body) => {
    expect(falFailure(STATUS, body)).toEqual(CONTENT);
    expect(falCause(bodyOf("content_policy_violation"))).toBe("content_refused");
  });

  it.each([
    ["image_load_error", "it cannot be decoded"],
    ["file_too_large", "its file is too large for the image generator"],
    ["image_too_small", "it has too few pixels for the image generator"],
    ["image_too_large", "it has too many pixels for the image generator"],
    ["unsupported_image_format", "its format is not supported"],
    ["face_detection_error", undefined],
    ["file_download_error", undefined, "reference_unreachable"],
  ])("classifies %s as a fault of the customer's picture: %s", (type, imageProblem, cause = "reference_unusable") => {
    const body = bodyOf(type, "No.", ["body", "image_urls", 1]);
    expect(falFailure(STATUS, body)).toEqual({ ...REFERENCE, cause, imageProblem });
    expect(falCause(body)).toBe(cause);
    // A model that takes one picture does not say its number.
    const { imageIndex: _, ...without } = REFERENCE;
    const ofOne = falFailure(STATUS, bodyOf(type, "No.", ["body", "image_url"]));
    expect(ofOne).toEqual({ ...without, cause, imageProblem });
  });

  it("does not take the weights of a LoRA for the customer's picture", () => {
    const body = bodyOf("file_download_error", "No.", ["body", "loras", 0, "path"]);
    expect(falFailure(STATUS, body)).toEqual({ state: "failed", reason: REASON });
  });

  it.each([
    "missing",
    "value_error",
    "greater_than",
    "less_than",
    "greater_than_equal",
    "less_than_equal",
    "one_of",
    "feature_not_supported",
    "string_too_short",
    "string_too_long",
    "sequence_too_long",
    "sequence_too_short",
    "too_long",
    "extra_forbidden",
    "literal_error",
    "int_parsing",
  ])("takes %s for an input that the model does not understand", (type) => {
    expect(falFailure(STATUS, bodyOf(type))).toEqual({ state: "misunderstood", reason: `${REASON} with ${type}` });
    expect(falCause(bodyOf(type))).toBeUndefined();
  });

  it.each(["downstream_service_error", "internal_server_error", "no_media_generated", "something_new"])(
    "classifies %s as a failure of the provider for any text",
    (type) => {
      expect(falFailure(STATUS, bodyOf(type))).toEqual({ state: "failed", reason: REASON });
    },
  );

  it.each([
    [bodyOf("generation_timeout"), "deadline_passed"],
    [bodyOf("downstream_service_unavailable"), "provider_unavailable"],
    [{ detail: "Request timed out", error_type: "request_timeout" }, "never_started"],
    [{ detail: "Startup timed out", error_type: "startup_timeout" }, "provider_unavailable"],
    [{ detail: "No runner", error_type: "runner_scheduling_failure" }, "provider_unavailable"],
  ])("classifies %j as %s", (body, cause) => {
    expect(falFailure(STATUS, body)).toEqual({ state: "failed", reason: REASON, cause });
  });
});
