import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { err, ok, Result } from "neverthrow";
import { z } from "zod";
import { accentContrast, CONTRAST_MIN, type Colour, readableAccent } from "../adapters/web/accent-colours.js";
import type { Identity, Mark } from "../adapters/web/identity.js";
import { SIGN_UP_MODES, type SignUpMode } from "../domain/accounts/sign-up.js";
import type { CreditPack, CreditPacks } from "../domain/credits/credit-pack.js";
import { type Credits, credits } from "../domain/credits/credits.js";
import type { ResultBounds } from "../domain/images/picture.js";
import { PANORAMA_POLICY, type PanoramaPolicy, PRICE_MAX, panoramaPolicy } from "../domain/panorama-policy.js";
import { GALLERY_MODES, type GalleryMode } from "../domain/tasks/gallery.js";
import type { ProviderPrices } from "../domain/tasks/generation-cost.js";
import { KNOWN_PRICES } from "./providers/known-prices.js";

/** What an operator sets for the business, without a change of the source: the file of `PANORAMA_SETTINGS`. */
export type Settings = {
  readonly policy: PanoramaPolicy;
  /** Name, mark and colours of the pages. */
  readonly identity: Identity;
  readonly signUp: SignUpMode;
  readonly gallery: GalleryMode;
  /** The credits with which an account begins that was opened by sign-up. */
  readonly welcomeCredits: Credits;
  /** What models that were not trained on panoramas are told, with `{prompt}`. Absent: `PROMPT_TEMPLATE`. */
  readonly providerPrompt: string | undefined;
  readonly retention: {
    /** Finished images are deleted after this many days; `null`: never. */
    readonly finishedImagesDays: number | null;
    /** For so many days, an operator can bring a deleted panorama back. */
    readonly deletedDays: number;
  };
  /** Generated pictures with larger figures are unusable, and refunded. */
  readonly resultBounds: ResultBounds;
  /** What the operator pays; those of the file replace the known ones. */
  readonly providerPrices: ProviderPrices;
  /** What receipts say besides the order, such as the seller's address and taxes. */
  readonly receiptText: string | undefined;
  /** How an order is paid, where no payment service is configured. */
  readonly paymentText: string | undefined;
};

/**
 * The welcome credits depend on whether panoramas cost the operator money, and whether addresses are confirmed.
 * `seamMax`: the variable `SEAM_MAX`, which is older than the file.
 */
export type SettingsContext = {
  readonly hasRealProvider: boolean;
  readonly sendsMail: boolean;
  readonly seamMax?: number | undefined;
  /** Where relative paths begin: the folder of the file. Default: the working directory. */
  readonly folder?: string;
};

/** With the local provider, which costs nothing: enough for three small panoramas. */
const LOCAL_WELCOME_CREDITS = 12;

/** Currencies with hundredths. */
const CURRENCIES = "AUD BRL CAD CHF CZK DKK EUR GBP HKD ILS INR MXN NOK NZD PLN RON SEK SGD THB USD ZAR".split(" ");

const MIB = 1024 * 1024;

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
const MARK_ERROR = "must be an SVG file, a square PNG file of 192 to 1024 pixels, or a text of at most 3 characters";

const colour = z.string({ error: COLOUR_ERROR }).regex(/^#[0-9a-fA-F]{6}$/, { error: COLOUR_ERROR });

const pack = object({ credits: integer(1, 1_000_000), price });

const cost = number(0, 1000);

const providerPrice = object({
  currency: z
    .string({ error: "must be the code of a currency, such as USD" })
    .regex(/^[A-Z]{3}$/, "must be the code of a currency, such as USD"),
  perPanorama: z
    .union([cost, object({ "1k": cost, "2k": cost, "4k": cost })], {
      error: "must be a number from 0 to 1000, or an object with such numbers for 1k, 2k and 4k",
    })
    .optional(),
  perUnit: cost.optional(),
});

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
  providerPrices: z
    .record(z.string(), providerPrice, { error: "must be an object in braces" })
    .optional()
    .meta({ description: "What the operator pays, by the name of the provider, such as replicate or fal:flux-3." }),
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

type SettingsFile = z.infer<typeof settingsSchema>;

/** The schema of the file for editors, as JSON Schema. */
export const settingsJsonSchema = (): object => z.toJSONSchema(settingsSchema);

/**
 * Reads the file, or returns the defaults without one. The error is one line that names the file, the setting, its
 * value and what is allowed.
 */
export const readSettings = (file: string | undefined, context: SettingsContext): Result<Settings, string> => {
  if (file === undefined) return settingsOf({}, context);
  const wrong = (what: string) => `Bad configuration: PANORAMA_SETTINGS=${file}: ${what}.`;
  const read = Result.fromThrowable(
    () => readFileSync(file, "utf8"),
    (error) => wrong(`the file cannot be read: ${(error as Error).message}`),
  );
  const parse = Result.fromThrowable(
    (text: string): unknown => JSON.parse(text),
    (error) => wrong(`the file is not JSON: ${(error as Error).message}`),
  );
  return read()
    .andThen((text) => parse(text.replace(/^\uFEFF/, "")))
    .andThen((content) => parseSettings(content, { ...context, folder: dirname(file) }).mapErr(wrong));
};

/** The error names the setting, its value and what is allowed. */
export const parseSettings = (content: unknown, context: SettingsContext): Result<Settings, string> => {
  const parsed = settingsSchema.safeParse(content, { reportInput: true });
  if (!parsed.success) return err(sentenceOf(parsed.error.issues[0], content));
  return settingsOf(parsed.data, context);
};

const settingsOf = (
  {
    prices = {},
    creditPacks,
    limits = {},
    retention,
    results = {},
    suspendOnDispute,
    identity = {},
    signUp = "open",
    gallery = "open",
    welcomeCredits,
    providerPrices = {},
    receiptText,
    paymentText,
    providerPrompt,
  }: SettingsFile,
  { hasRealProvider, sendsMail, seamMax, folder = "." }: SettingsContext,
): Result<Settings, string> => {
  const { readsPerMinute, writesPerMinute, activeTasks: activeMax } = limits;
  const uploads = uploadLimitsOf(limits.uploads ?? {});
  if (uploads.isErr()) return err(uploads.error);
  if (hasRealProvider && welcomeCredits && signUp === "open" && !sendsMail) {
    return err(
      `welcomeCredits is ${welcomeCredits}: must be 0, because everybody can sign up, panoramas of this provider cost money, and without SMTP_URL no address is confirmed; or set SMTP_URL, or signUp to invited`,
    );
  }
  if (seamMax !== undefined && results.seamMax !== undefined) {
    return err(`results.seamMax is ${results.seamMax}: must be omitted, because the variable SEAM_MAX is set`);
  }
  const packs = creditPacks && packsOf(creditPacks);
  const shownAs = identityOf(identity, folder);
  if (shownAs.isErr()) return err(shownAs.error);
  return ok({
    policy: panoramaPolicy({
      prices: {
        "1k": prices["1k"] ?? PANORAMA_POLICY.prices["1k"],
        "2k": prices["2k"] ?? PANORAMA_POLICY.prices["2k"],
        "4k": prices["4k"] ?? PANORAMA_POLICY.prices["4k"],
      },
      readsPerMinute,
      writesPerMinute,
      activeMax,
      uploads: uploads.value,
      packs,
      suspendOnDispute,
    }),
    identity: shownAs.value,
    signUp,
    gallery,
    welcomeCredits: credits(welcomeCredits ?? (hasRealProvider ? 0 : LOCAL_WELCOME_CREDITS)),
    providerPrompt,
    retention: { finishedImagesDays: retention?.finishedImagesDays ?? null, deletedDays: retention?.deletedDays ?? 0 },
    resultBounds: { ...results, seamMax: seamMax ?? results.seamMax },
    receiptText,
    paymentText,
    providerPrices: { ...KNOWN_PRICES, ...pricesOf(providerPrices) },
  });
};

const identityOf = (
  { name, mark: markText, ...colours }: NonNullable<SettingsFile["identity"]>,
  folder: string,
): Result<Identity, string> => {
  const mark = markText === undefined ? ok(undefined) : markOf(markText, folder);
  if (mark.isErr()) return err(`identity.mark is ${shown(markText)}: ${mark.error}`);
  // The schema lets only colours pass.
  const { accent, accentOnDark } = colours as { accent?: Colour; accentOnDark?: Colour };
  const chosen = [
    ["accent", accent, "light"],
    ["accentOnDark", accentOnDark, "dark"],
  ] as const;
  for (const [setting, value, scheme] of chosen) {
    if (value === undefined) continue;
    const found = accentContrast(value, scheme);
    if (found >= CONTRAST_MIN) continue;
    return err(
      `identity.${setting} is ${shown(value)}: must be ${scheme === "light" ? "darker" : "lighter"}, such as ${readableAccent(value, scheme)}, because its contrast on a ${scheme} background is ${oneDecimal(found)}, and text needs ${CONTRAST_MIN} (WCAG 2.2 AA)`,
    );
  }
  if (accent === undefined && accentOnDark !== undefined) {
    return err(`identity.accentOnDark is ${shown(accentOnDark)}: must be omitted without identity.accent`);
  }
  const accents = accent && { onLight: accent, onDark: accentOnDark ?? readableAccent(accent, "dark") };
  return ok({ name, mark: mark.value, accent: accents });
};

/** Rounded down: what is missing must be seen. */
const oneDecimal = (value: number): number => Math.floor(value * 10) / 10;

const MARK_BYTES_MAX = 256 * 1024;

/** The name of a file, or the text itself. */
const markOf = (text: string, folder: string): Result<Mark, string> => {
  const extension = /\.(svg|png)$/i.exec(text)?.[1]?.toLowerCase();
  if (extension === undefined) {
    return [...new Intl.Segmenter().segment(text)].length <= 3 ? ok({ kind: "text", text }) : err(MARK_ERROR);
  }
  const read = Result.fromThrowable(
    () => readFileSync(resolve(folder, text)),
    (error) => `the file cannot be read: ${(error as Error).message}`,
  );
  return read().andThen((content): Result<Mark, string> => {
    if (content.length > MARK_BYTES_MAX) return err("must be a file of at most 256 KiB");
    if (extension === "svg") {
      return /<svg[\s>]/.test(content.toString("utf8")) ? ok({ kind: "svg", content }) : err(MARK_ERROR);
    }
    const pixels = squarePngPixels(content);
    return pixels === undefined ? err(MARK_ERROR) : ok({ kind: "png", content, pixels });
  });
};

/** Signature, length and name of the first chunk, then width and height. */
const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");

const squarePngPixels = (content: Buffer): number | undefined => {
  if (content.length < 24 || !content.subarray(0, 16).equals(PNG_START)) return undefined;
  const [width, height] = [content.readUInt32BE(16), content.readUInt32BE(20)];
  return width === height && width >= 192 && width <= 1024 ? width : undefined;
};

/** In millionths. */
const pricesOf = (inFile: NonNullable<SettingsFile["providerPrices"]>): ProviderPrices =>
  Object.fromEntries(
    Object.entries(inFile).map(([name, { currency, perPanorama: each, perUnit }]) => {
      const [small, medium, large] =
        typeof each === "object" ? [each["1k"], each["2k"], each["4k"]] : ([each, each, each] as const);
      const perPanorama =
        small === undefined || medium === undefined || large === undefined
          ? undefined
          : { "1k": small * 1e6, "2k": medium * 1e6, "4k": large * 1e6 };
      return [name, { currency, perPanorama, perUnit: perUnit === undefined ? undefined : perUnit * 1e6 }];
    }),
  );

/** Smallest first, as the account page shows them. */
const packsOf = ({ currency, packs }: NonNullable<SettingsFile["creditPacks"]>): CreditPacks => {
  const [first, ...others] = packs
    .map((pack): CreditPack => ({ credits: credits(pack.credits), priceCents: Math.round(pack.price * 100), currency }))
    .sort((a, b) => a.credits - b.credits);
  if (first === undefined) throw new Error("Bug: the schema lets an empty list of packs pass");
  return [first, ...others];
};

const uploadLimitsOf = ({
  files,
  fileMebibytes: file,
  totalMebibytes: total,
  requestMebibytes: request,
}: NonNullable<NonNullable<SettingsFile["limits"]>["uploads"]>): Result<PanoramaPolicy["uploads"], string> => {
  const { uploads: usual } = PANORAMA_POLICY;
  const limits = {
    filesMax: files ?? usual.filesMax,
    fileBytesMax: file === undefined ? usual.fileBytesMax : file * MIB,
    totalBytesMax: total === undefined ? usual.totalBytesMax : total * MIB,
    requestBytesMax: request === undefined ? usual.requestBytesMax : request * MIB,
  };
  if (limits.fileBytesMax > limits.totalBytesMax) {
    return err(
      `limits.uploads.totalMebibytes is ${limits.totalBytesMax / MIB}: must not be smaller than fileMebibytes, which is ${limits.fileBytesMax / MIB}`,
    );
  }
  if (limits.totalBytesMax >= limits.requestBytesMax) {
    return err(
      `limits.uploads.requestMebibytes is ${limits.requestBytesMax / MIB}: must be larger than totalMebibytes, which is ${limits.totalBytesMax / MIB}`,
    );
  }
  return ok(limits);
};

const sentenceOf = (issue: z.core.$ZodIssue | undefined, content: unknown): string => {
  if (issue === undefined) throw new Error("Bug: zod refused the settings without an issue");
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const [unknown = ""] = issue.keys;
    const known = knownKeys(path);
    return `${[...path, unknown].join(".")} is not a setting. Did you mean ${[...path, nearest(unknown, known)].join(".")}? Known here: ${known.join(", ")}`;
  }
  const value = path.reduce((inner: unknown, key) => (inner as Record<string, unknown>)?.[key], content);
  const name = path.length === 0 ? "the content" : path.join(".");
  return value === undefined ? `${name} is missing: ${issue.message}` : `${name} is ${shown(value)}: ${issue.message}`;
};

const SHOWN_CHARACTERS_MAX = 60;

const shown = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`;
};

/** The settings that the object at this path may have. */
const knownKeys = (path: readonly string[]): readonly string[] => {
  let schema: unknown = settingsSchema;
  for (const key of path) {
    const inner = withoutWrappers(schema);
    if (inner instanceof z.ZodArray) schema = inner.element;
    else schema = inner instanceof z.ZodRecord ? inner.valueType : (inner as z.ZodObject).shape[key];
  }
  return Object.keys((withoutWrappers(schema) as z.ZodObject).shape);
};

const withoutWrappers = (schema: unknown): unknown =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? withoutWrappers(schema.unwrap()) : schema;

const nearest = (word: string, known: readonly string[]): string =>
  known.reduce((best, name) => (distance(word, name) < distance(word, best) ? name : best));

/** How many characters must be added, removed or replaced (Levenshtein), where upper and lower case are the same. */
export const distance = (from: string, to: string): number => {
  const [a, b] = [from.toLowerCase(), to.toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};
