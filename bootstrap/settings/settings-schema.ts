import * as z from "zod";
import { SIGN_UP_MODES } from "../../domain/accounts/account.js";
import type { Resolution } from "../../domain/images/resolution.js";
import { PANORAMA_POLICY, PRICE_MAX } from "../../domain/panorama-policy.js";
import { GALLERY_MODES } from "../../domain/tasks/visibility.js";

/** Currencies with hundredths. */
const CURRENCIES = "AUD BRL CAD CHF CZK DKK EUR GBP HKD ILS INR MXN NOK NZD PLN RON SEK SGD THB USD ZAR".split(" ");

const integer = (min: number, max: number) => {
  const error = `must be an integer from ${min} to ${max}`;
  return z
    .number({ error })
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, { error })
    .meta({ type: "integer", minimum: min, maximum: max });
};

/** The price of a panorama in this resolution. */
const priceOf = (resolution: Resolution) =>
  integer(1, PRICE_MAX)
    .optional()
    .meta({ description: `Credits of one panorama in ${resolution}.`, default: PANORAMA_POLICY.prices[resolution] });

const number = (min: number, max: number) => {
  const error = `must be a number from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
};

const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(", ")}` });

const { rates, uploads } = PANORAMA_POLICY;
const MIB = 1024 * 1024;

const PRICE_ERROR = "must be an amount from 0.50 to 999999.99 with at most two decimals";

const price = z
  .number({ error: PRICE_ERROR })
  .refine((amount) => amount >= 0.5 && amount <= 999_999.99 && Number(amount.toFixed(2)) === amount, {
    error: PRICE_ERROR,
  })
  .meta({ type: "number", minimum: 0.5, maximum: 999_999.99, multipleOf: 0.01 });

const TEMPLATE_CHARACTERS_MAX = 4000;
const PROMPT_ERROR = `must be a text of at most ${TEMPLATE_CHARACTERS_MAX} characters that contains {prompt} once`;

/** `{prompt}` exactly once: the prompt's maximum length in GET /abilities is calculated for one copy of it. */
const providerPrompt = z
  .string({ error: PROMPT_ERROR })
  .refine((text) => [...text].length <= TEMPLATE_CHARACTERS_MAX && text.split("{prompt}").length === 2, {
    error: PROMPT_ERROR,
  })
  .meta({ type: "string", maxLength: TEMPLATE_CHARACTERS_MAX, pattern: "\\{prompt\\}" });

const object = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === "invalid_type" ? "must be an object in braces" : undefined),
  });

const NAME_ERROR = "must be a text of 1 to 40 characters on one line";
const COLOUR_ERROR = "must be a colour such as #3d50d0";

const colour = z.string({ error: COLOUR_ERROR }).regex(/^#[0-9a-fA-F]{6}$/, { error: COLOUR_ERROR });

const pack = object({
  credits: integer(1, 1_000_000).meta({ description: "Credits of one pack." }),
  price: price.meta({ description: "Price of the pack, with at most two decimals." }),
});

/** Example for CONFIGURATION.md: all settings except long texts. */
const EXAMPLE = {
  $schema: "./panorama-settings.schema.json",
  prices: { "1k": 2, "2k": 5, "4k": 12 },
  creditPacks: {
    currency: "EUR",
    packs: [
      { credits: 50, price: 4.5 },
      { credits: 300, price: 24 },
      { credits: 1000, price: 69.9 },
    ],
  },
  limits: {
    readsPerMinute: 120,
    writesPerMinute: 20,
    activeTasks: 10,
    uploads: { files: 5, fileMebibytes: 15, totalMebibytes: 30, requestMebibytes: 40 },
  },
  results: { seamRatioMax: 20, poleDeviationMax: 60 },
  identity: { name: "Weitblick", accent: "#0b6e5f", accentOnDark: "#7fd0c2" },
  signUp: "invited",
  gallery: "off",
  welcomeCredits: 8,
};

/** Schema of the settings file. Omitted settings have their defaults. */
export const settingsSchema = object({
  $schema: z
    .string({ error: "must be the path or URL of a JSON schema" })
    .optional()
    .meta({ description: "The JSON schema of this file, for editors." }),
  prices: object({
    "1k": priceOf("1k"),
    "2k": priceOf("2k"),
    "4k": priceOf("4k"),
  })
    .optional()
    .meta({ description: "Credits of one panorama." }),
  creditPacks: object({
    currency: oneOf(CURRENCIES).meta({ description: "Stripe charges this currency." }),
    packs: z
      .array(pack, { error: "must be a list in brackets" })
      .min(1, { error: "must have 1 to 10 packs" })
      .max(10, { error: "must have 1 to 10 packs" })
      .refine((packs) => new Set(packs.map(({ credits }) => credits)).size === packs.length, {
        error: "must not have two packs with the same number of credits",
      }),
  })
    .optional()
    .meta({ description: "Credit packs for sale. Default: 100 credits for 9 USD, 500 for 39, and 2000 for 129." }),
  limits: object({
    readsPerMinute: integer(1, 6000).optional().meta({
      description: "Reads of one API key in any 60 seconds.",
      default: rates.read.limit,
    }),
    writesPerMinute: integer(1, 600)
      .optional()
      .meta({
        description:
          "Writes of one API key in any 60 seconds. Actions on the web pages have the same limit, per account. All keys of " +
          "one account together may make 20 times as many writes.",
        default: rates.write.limit,
      }),
    activeTasks: integer(1, 1000).optional().meta({
      description: "Maximum number of tasks of one account that are not finished.",
      default: PANORAMA_POLICY.activeMax,
    }),
    uploads: object({
      files: integer(1, 20).optional().meta({ description: "Files of one upload.", default: uploads.filesMax }),
      fileMebibytes: integer(1, 50)
        .optional()
        .meta({
          description: "Size of one file, in MiB.",
          default: uploads.fileBytesMax / MIB,
        }),
      totalMebibytes: integer(1, 200)
        .optional()
        .meta({
          description: "Total size of the files of one upload, in MiB. At least `fileMebibytes`.",
          default: uploads.totalBytesMax / MIB,
        }),
      requestMebibytes: integer(1, 250)
        .optional()
        .meta({
          description: "Size of the request body, in MiB. Larger than `totalMebibytes`.",
          default: uploads.requestBytesMax / MIB,
        }),
    }).optional(),
  })
    .optional()
    .meta({ description: "Requests are per API key, tasks per account, uploads per request." }),
  results: object({
    seamMax: number(0, 255)
      .optional()
      .meta({ description: "Same as the variable SEAM_MAX: the largest seam, in colour levels." }),
    seamRatioMax: number(1, 1000).optional().meta({
      description: "Maximum of the difference between left and right edge, divided by that of neighbouring columns.",
    }),
    poleDeviationMax: number(0, 128).optional().meta({
      description: "Maximum standard deviation of the first row, and of the last row, in levels of 0 to 255.",
    }),
  })
    .optional()
    .meta({
      description: "Limits for generated pictures. A picture over a limit is refused and refunded. Default: no limits.",
    }),
  receiptText: z
    .string({ error: "must be a text" })
    .max(4000, "must be a text of at most 4000 characters")
    .optional()
    .meta({ description: "Additional text on receipts, such as the seller's name, address and taxes." }),
  paymentText: z
    .string({ error: "must be a text" })
    .max(4000, "must be a text of at most 4000 characters")
    .optional()
    .meta({ description: "Payment instructions without Stripe, such as a bank account." }),
  providerPrompt: providerPrompt.optional().meta({
    description:
      "Prompt template for models that were not trained on panoramas. `{prompt}`: the customer's prompt. `{references}`: " +
      "description of the reference images and their directions. The template counts towards the model's prompt limit. " +
      "`panorama settings show` prints the default.",
  }),
  suspendOnDispute: z.boolean({ error: "must be true or false" }).optional().meta({
    description: "If true, an account with an open dispute cannot create panoramas.",
    default: false,
  }),
  identity: object({
    name: z
      .string({ error: NAME_ERROR })
      .regex(/^(?! )[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,40}(?<! )$/u, { error: NAME_ERROR })
      .optional()
      .meta({
        description: "The name in pages, their titles, e-mails, link previews, oEmbed and the web manifest.",
        default: "Panorama",
      }),
    accent: colour.optional().meta({
      description:
        "Links and buttons on light backgrounds. The contrast must be at least 4.5 (WCAG 2.2 AA). Colours for hover, button " +
        "text and selection are derived from it.",
      default: "#3d50d0",
    }),
    accentOnDark: colour.optional().meta({
      description: "Accent on dark backgrounds. Required with `accent`.",
      default: "#aab6ff",
    }),
  })
    .optional()
    .meta({ description: "Name and colours of the pages, and the name in e-mails." }),
  signUp: oneOf(SIGN_UP_MODES).optional().meta({
    description: "Sign-up: `open` to everybody, `invited` only, or `closed`. `panorama account create` always works.",
    default: "open",
  }),
  gallery: oneOf(GALLERY_MODES).optional().meta({
    description:
      "`open`: /gallery shows all public panoramas. `off`: no gallery; public panoramas are reachable by link.",
    default: "open",
  }),
  welcomeCredits: integer(0, 1_000_000).optional().meta({
    description:
      "Initial credits of an account opened by sign-up or invitation. Default: 12 with the provider local, otherwise 0.",
  }),
}).meta({ examples: [EXAMPLE] });

/** Content of the file. */
export type SettingsFile = z.infer<typeof settingsSchema>;

/** The schema of the file for editors, as JSON Schema. */
export const settingsJsonSchema = (): object => z.toJSONSchema(settingsSchema);
