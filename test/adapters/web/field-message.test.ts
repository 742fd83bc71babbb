import { expect, it } from "vitest";
import { fieldMessage } from "../../../adapters/web/field-message.js";
import { invalidRequest } from "../../../domain/invalid-request.js";

it.each([
  [
    invalidRequest("password", { name: "characters", min: 10, max: 200, actual: 9 }),
    "Password must have 10 to 200 characters, but has 9.",
  ],
  [
    invalidRequest("image_urls", { name: "no_user_info" }, 2),
    "Image 3 must not have a user name or password in front of the host.",
  ],
  [invalidRequest("files", { name: "bytes_max", max: 5 }, 0), "Image 1 must have at most 5 bytes."],
  [invalidRequest("body", { name: "prompt_or_images" }), "A panorama needs a prompt, images, or both."],
  [invalidRequest("body", { name: "bytes_max", max: 5 }), "The form must have at most 5 bytes."],
])("fieldMessage writes %o as: %s", (refusal, sentence) => {
  expect(fieldMessage(refusal)).toBe(sentence);
});
