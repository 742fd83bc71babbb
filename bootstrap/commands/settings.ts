import { ok } from "neverthrow";
import { offerOf } from "../../adapters/client/offer.js";
import { PROMPT_TEMPLATE } from "../../adapters/provider/remote/leading-prompt.js";
import { settingsJsonSchema } from "../settings/settings-schema.js";
import { tokens } from "../tokens.js";
import type { Command } from "./common/command.js";

export const settingsShow: Command = {
  words: "settings show",
  about:
    "Prints the prices, packs, limits and bounds in effect, or with --schema the JSON schema of the file for editors.",
  usage: "[--schema]",
  options: { schema: { type: "boolean", about: "print the JSON schema of the file of PANORAMA_SETTINGS" } },
  required: [],
  example: "settings show --schema > panorama-settings.schema.json",
  run: async (service, values) => {
    const config = await service.get(tokens.config);
    const { policy, identity, signUp, gallery, welcomeCredits, providerPrompt, resultBounds, referenceRetentionHours } =
      config;
    const json =
      values.schema === true
        ? settingsJsonSchema()
        : {
            ...offerOf(policy, referenceRetentionHours),
            identity: {
              name: identity.name ?? null,
              accent: identity.accent?.onLight ?? null,
              accent_on_dark: identity.accent?.onDark ?? null,
            },
            sign_up: signUp,
            gallery,
            welcome_credits: welcomeCredits,
            provider_prompt: providerPrompt ?? PROMPT_TEMPLATE,
            result_bounds: {
              seam_max: resultBounds.seamMax ?? null,
              seam_ratio_max: resultBounds.seamRatioMax ?? null,
              pole_deviation_max: resultBounds.poleDeviationMax ?? null,
            },
          };
    return ok({ json, lines: [JSON.stringify(json, undefined, 2)] });
  },
};
