import * as z from "zod";
import { SIGN_UP_MODES } from "../../domain/accounts/sign-up.js";
import { PRICE_MAX } from "../../domain/panorama-policy.js";
import { GALLERY_MODES } from "../../domain/tasks/gallery.js";
import { MARK_ERROR } from "./identity-of.js";

/** Currencies with hundredths. */
const CURRENCIES = "AUD BRL CAD CHF CZK DKK EUR GBP HKD ILS INR MXN NOK NZD PLN RON SEK SGD THB USD ZAR".split(" ");

const integer = (min: number, max: number) => {
  const error = `must be an integer from ${min} to ${max}`;
  return z
    .number({ error })
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, { error })
    .meta({ type: "integer", minimum: min, maximum: max });
};

const number = (min: number, max: number) => {
  const error = `must be a number from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
};

const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(", ")}` });

const PRICE_ERROR = "must be an amount from 0.50 to 999999.99 with at most two decimals";

const price = z
  .number({ error: PRICE_ERROR })
  .refine((amount) => amount >= 0.5 && amount <= 999_999.99 && Number(amount.toFixed(2)) === amount, {
    error: PRICE_ERROR,
  })
  .meta({ type: "number", minimum: 0.5, maximum: 999_999.99, multipleOf: 0.01 });

const PROMPT_CHARACTERS_MAX = 4000;
const PROMPT_ERROR = `must be a text of at most ${PROMPT_CHARACTERS_MAX} characters that contains {prompt} once`;

/** `{prompt}` only once, because the room that is left for the customer's prompt is told as a number. */
const providerPrompt = z
  .string({ error: PROMPT_ERROR })
  .refine((text) => [...text].length <= PROMPT_CHARACTERS_MAX && text.split("{prompt}").length === 2, {
    error: PROMPT_ERROR,
  })
  .meta({ type: "string", maxLength: PROMPT_CHARACTERS_MAX, pattern: "\\{prompt\\}" });

const object = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === "invalid_type" ? "must be an object in braces" : undefined),
  });

const NAME_ERROR = "must be a text of 1 to 40 characters on one line";
const COLOUR_ERROR = "must be a colour such as #3d50d0";

const colour = z.string({ error: COLOUR_ERROR }).regex(/^#[0-9a-fA-F]{6}$/, { error: COLOUR_ERROR });

const pack = object({ credits: integer(1, 1_000_000), price });

/** The settings as they are in the file. Omitted ones have their defaults. */
export const settingsSchema = object({
  $schema: z.string({ error: "must be the path or URL of a JSON schema" }).optional(),
  prices: object({
    "1k": integer(1, PRICE_MAX).optional(),
    "2k": integer(1, PRICE_MAX).optional(),
    "4k": integer(1, PRICE_MAX).optional(),
  })
    .optional()
    .meta({ description: "Credits of one panorama." }),
  creditPacks: object({
    currency: oneOf(CURRENCIES),
    packs: z
      .array(pack, { error: "must be a list in brackets" })
      .min(1, { error: "must have 1 to 10 packs" })
      .max(10, { error: "must have 1 to 10 packs" })
      .refine((packs) => new Set(packs.map(({ credits }) => credits)).size === packs.length, {
        error: "must not have two packs with the same number of credits",
      }),
  })
    .optional()
    .meta({ description: "What customers can buy." }),
  limits: object({
    readsPerMinute: integer(1, 6000).optional(),
    writesPerMinute: integer(1, 600).optional(),
    activeTasks: integer(1, 1000).optional(),
    uploads: object({
      files: integer(1, 20).optional(),
      fileMebibytes: integer(1, 50).optional(),
      totalMebibytes: integer(1, 200).optional(),
      requestMebibytes: integer(1, 250).optional(),
    }).optional(),
  })
    .optional()
    .meta({ description: "Requests are per API key, tasks per account, uploads per request." }),
  retention: object({
    finishedImagesDays: integer(1, 36_500)
      .nullable()
      .optional()
      .meta({ description: "Finished images are deleted after so many days; null: never." }),
    deletedDays: integer(0, 30)
      .optional()
      .meta({ description: "For so many days, an operator can bring a deleted panorama back; 0: not at all." }),
  }).optional(),
  results: object({
    seamMax: number(0, 255).optional().meta({ description: "Like SEAM_MAX: levels, where the seam is worst." }),
    seamRatioMax: number(1, 1000)
      .optional()
      .meta({ description: "Difference of the edges, compared with neighbouring columns." }),
    poleDeviationMax: number(0, 128)
      .optional()
      .meta({ description: "Standard deviation of the first and the last row, in levels." }),
  })
    .optional()
    .meta({ description: "Generated pictures with larger figures are refunded. Without a bound, none is." }),
  receiptText: z
    .string({ error: "must be a text" })
    .max(4000, "must be a text of at most 4000 characters")
    .optional()
    .meta({ description: "What receipts say besides the order, such as the seller's name, address and taxes." }),
  paymentText: z
    .string({ error: "must be a text" })
    .max(4000, "must be a text of at most 4000 characters")
    .optional()
    .meta({ description: "How orders are paid where no payment service is configured, such as a bank account." }),
  providerPrompt: providerPrompt.optional().meta({
    description:
      "What models that were not trained on panoramas are told: {prompt} is the customer's prompt, {references} what " +
      "the reference images are.",
  }),
  suspendOnDispute: z.boolean({ error: "must be true or false" }).optional().meta({
    description: "Whether an account can create nothing while one of its payments is disputed.",
  }),
  identity: object({
    name: z
      .string({ error: NAME_ERROR })
      .regex(/^(?! )[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,40}(?<! )$/u, { error: NAME_ERROR })
      .optional(),
    mark: z.string({ error: MARK_ERROR }).min(1, { error: MARK_ERROR }).optional(),
    accent: colour.optional(),
    accentOnDark: colour.optional(),
  })
    .optional()
    .meta({ description: "Name, mark and colours of the pages, and the name in e-mails." }),
  signUp: oneOf(SIGN_UP_MODES).optional().meta({ description: "Who may open an account." }),
  gallery: oneOf(GALLERY_MODES).optional().meta({ description: "Which public panoramas the gallery shows." }),
  welcomeCredits: integer(0, 1_000_000)
    .optional()
    .meta({ description: "The credits with which an account begins that somebody has opened by signing up." }),
});

/** What the file contains. */
export type SettingsFile = z.infer<typeof settingsSchema>;

/** The schema of the file for editors, as JSON Schema. */
export const settingsJsonSchema = (): object => z.toJSONSchema(settingsSchema);
