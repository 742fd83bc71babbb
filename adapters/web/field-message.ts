import { WHOLE_BODY } from "../../domain/invalid-request.js";
import { type InvalidMessage, rulePredicate } from "../wording/rule-predicate.js";
import { shown } from "../wording/shown.js";
import { type Html, html } from "./html.js";
import { count } from "./texts.js";

/** The sentence for a form, with the field's label as its subject: "Password must have …", "Image 3 must …". */
export const fieldMessage = ({ field, index, rule }: InvalidMessage): string => {
  switch (rule.name) {
    case "prompt_or_images":
      return "Describe a place or add a picture.";
    case "prompt_without_images":
      return `Describe the place in at least ${rule.min} characters, or add a picture.`;
    case "images_only":
      return "Add a picture: panoramas are made from pictures here.";
    case "text_only":
      return "Remove the pictures: panoramas are made from words only here.";
    case "key_of_deleted":
      return "The panorama of this form was created and then deleted. Create a new one.";
    case "image_type":
      return `${subject(field, index)} isn’t a JPEG, PNG or WebP.`;
    case "integer":
      return `${subject(field, index)} must be a whole number from ${count(rule.min)} to ${count(rule.max)}.`;
    case "future_time":
      return `${subject(field, index)} must be in the future.`;
    case "one_of":
      if (field === "scopes") return "Choose what the key may do.";
      if (field === "reason") return "Choose what is wrong with it.";
      break;
    case "email":
      return `Enter an e-mail address such as name@example.com: ${shown(rule.actual)} is none.`;
    case "characters":
      if (field === "password" && rule.actual === 0) return "Choose a password that is more than spaces.";
      break;
    case "characters_max":
      return `${subject(field, index)} must have at most ${count(rule.max)} characters, but has ${count(rule.actual)}.`;
    case "usable_image":
      return `${subject(field, index)} cannot be used: ${rule.reason}. Save it again as JPEG, PNG or WebP, or choose another one.`;
  }
  return `${subject(field, index)} ${rulePredicate(rule, { imageUrls: "images" })}`;
};

function subject(field: string, index: number | undefined): string {
  if (index !== undefined) return `Image ${index + 1}`;
  return LABELS.get(field) ?? field.charAt(0).toUpperCase() + field.slice(1);
}

const LABELS: ReadonlyMap<string, string> = new Map<string, string>([
  [WHOLE_BODY, "The form"],
  ["files", "Images"],
  ["image_urls", "Images"],
  ["name", "Name of the key"],
  ["expires_at", "Expiry of the key"],
  ["credits_per_day", "Credits per day"],
  ["credits_per_month", "Credits per month"],
  ["url", "URL"],
]);

/** An error above a form, which screen readers announce immediately. Returns `undefined` without an error. */
export const errorBox = (error: string | undefined): Html | undefined =>
  error === undefined ? undefined : html`<p class="error" role="alert">${error}</p>`;
