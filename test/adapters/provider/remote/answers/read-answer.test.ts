import { describe, expect, it } from "vitest";
import { isModerated } from "../../../../../adapters/provider/remote/answers/read-answer.js";

describe("isModerated", () => {
  it.each([
    "The input or output was flagged as sensitive. Please try again with different inputs. (E005)",
    "Prediction failed (E005)",
    "NSFW content detected. Try running it again, or try a different prompt.",
    "Potential NSFW content was detected in one or more images. A black image will be returned instead.",
    "nsfw",
    "Your request was rejected by the safety system.",
    "The image was blocked for safety reasons: safety filter triggered",
    "Content policy: a lake",
    "content_policy_violation",
    "image_content_policy_violation",
    "ContentPolicyViolation",
    "moderation_blocked",
    "Request Moderated",
    "Content Moderated",
    "IMAGE_SAFETY",
    "This prompt violates our usage policies",
    "The content violates our policy",
    "Your prompt was flagged by our moderation",
    "The request did not pass content moderation",
    "The picture contains inappropriate content",
    "unsafe content",
    "The content was flagged by the safety checker.",
    "The prompt was flagged as potentially harmful",
  ])("is true for: %s", (text) => {
    expect(isModerated(text)).toBe(true);
    expect(isModerated({ error: [{ message: text }] })).toBe(true);
  });

  it.each([
    "The file name is case-sensitive",
    "retry policy is exhausted",
    "moderate height",
    "a moderately large tensor",
    "The moderation service timed out",
    "Connection refused by the content moderation service",
    "Failed to load safety_checker/model.safetensors",
    "ckpt_name: 'nsfw.safetensors' not in list",
    "CUDA out of memory",
    "A thread safety check is missing",
    "time-sensitive lock expired",
    "The cache policy of the bucket forbids this",
    "error code E0051",
    "insufficient quota: contact sales about your policy",
    "",
  ])("is false for: %s", (text) => {
    expect(isModerated(text)).toBe(false);
  });

  it("reads texts, and not the names of members", () => {
    expect(isModerated({ nsfw: false, content_policy: null, error: "CUDA out of memory" })).toBe(false);
    expect(isModerated(undefined)).toBe(false);
  });
});
