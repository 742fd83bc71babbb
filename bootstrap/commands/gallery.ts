import { notFound } from "../command-error.js";
import type { Service } from "../service.js";
import { tokens } from "../tokens.js";
import { type Command, text } from "./common/command.js";
import { invalidOption } from "./common/invalid-option.js";

export const galleryHide: Command = {
  words: "gallery hide",
  about: "Hides a public panorama from everybody but its owner, until panorama gallery show.",
  usage: "SLUG --reason TEXT",
  options: { reason: { type: "string", about: "1 to 200 characters, which the owner sees" } },
  positional: "slug",
  required: ["slug", "reason"],
  example: 'gallery hide AbCdEfGhIj --reason "Shows a private person"',
  isRecorded: true,
  run: (service, values) => withhold(service, text(values, "slug"), text(values, "reason")),
};

export const galleryShow: Command = {
  words: "gallery show",
  about: "Makes a panorama public again that an operator has hidden.",
  usage: "SLUG",
  options: {},
  positional: "slug",
  required: ["slug"],
  example: "gallery show AbCdEfGhIj",
  isRecorded: true,
  run: (service, values) => withhold(service, text(values, "slug"), undefined),
};

/** Hides a panorama for a reason; without one, shows it. */
export const withhold = async (service: Service, slug: string, reason: string | undefined) => {
  const { operators } = await service.get(tokens.storeUseCases);
  const changed = await operators.withholdPanorama(slug.trim(), reason);
  return changed
    .map((task) => ({
      json: { task_id: task.id, slug: task.slug, hidden: reason !== undefined },
      lines: [`panorama ${task.slug} is ${reason === undefined ? "no longer hidden" : "hidden"}`],
    }))
    .mapErr((error) => (error.kind === "not_found" ? notFound(error.message) : invalidOption(error)));
};
