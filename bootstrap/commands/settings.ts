import { ok } from "neverthrow";
import { offerOf } from "../../adapters/client/offer.js";
import { settingsJsonSchema } from "../settings.js";
import { tokens } from "../tokens.js";
import type { Command } from "./command.js";

export const settingsShow: Command = {
  words: "settings show",
  about: "Prints the prices, packs and limits in effect, or with --schema the JSON schema of the file for editors.",
  usage: "[--schema]",
  options: { schema: { type: "boolean", about: "print the JSON schema of the file of PANORAMA_SETTINGS" } },
  required: [],
  example: "settings show --schema > panorama-settings.schema.json",
  run: async (service, values) => {
    const { policy, signUp, welcomeCredits, retention } = await service.get(tokens.config);
    const json =
      values.schema === true
        ? settingsJsonSchema()
        : {
            ...offerOf(policy),
            sign_up: signUp,
            welcome_credits: welcomeCredits,
            finished_images_days: retention.finishedImagesDays,
          };
    return ok({ json, lines: [JSON.stringify(json, undefined, 2)] });
  },
};
