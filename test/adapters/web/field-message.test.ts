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
  [
    invalidRequest("Idempotency-Key", { name: "key_of_deleted", taskId: "0190" }),
    "The panorama of this form was created and then deleted. Create a new one.",
  ],
  [invalidRequest("files", { name: "bytes_max", max: 5 }, 0), "Image 1 must have at most 5 bytes."],
  [
    invalidRequest("files", { name: "image_type", allowed: ["image/jpeg", "image/png", "image/webp"] }, 1),
    "Image 2 isn’t a JPEG, PNG or WebP.",
  ],
  [invalidRequest("body", { name: "prompt_or_images" }), "Describe a place or add a picture."],
  [
    invalidRequest("prompt", { name: "prompt_without_images", min: 3, actual: "ab" }),
    "Describe the place in at least 3 characters, or add a picture.",
  ],
  [
    invalidRequest("password", { name: "characters", min: 10, max: 200, actual: 0 }),
    "Choose a password that is more than spaces.",
  ],
  [invalidRequest("body", { name: "bytes_max", max: 5 }), "The form must have at most 5 bytes."],
  [
    invalidRequest("seed", { name: "integer", min: 0, max: 2147483647, actual: 1.5 }),
    "Seed must be a whole number from 0 to 2,147,483,647.",
  ],
  [
    invalidRequest("expires_at", { name: "future_time", actual: "2020-01-31T12:00" }),
    "Expiry of the key must be in the future.",
  ],
  [
    invalidRequest("scopes", { name: "one_of", allowed: ["read", "create"], actual: undefined }),
    "Choose what the key may do.",
  ],
  [
    invalidRequest("reason", { name: "one_of", allowed: ["person", "rights"], actual: "" }),
    "Choose what is wrong with it.",
  ],
  [
    invalidRequest("email", { name: "email", actual: "nonsense" }),
    'Enter an e-mail address such as name@example.com: "nonsense" is none.',
  ],
])("fieldMessage writes %o as: %s", (refusal, sentence) => {
  expect(String(fieldMessage(refusal))).toBe(sentence);
});
