import { readFileSync } from "node:fs";
import { err, ok, Result } from "neverthrow";
import { credits } from "../domain/credits/credits.js";
import type { CreditPack, CreditPacks } from "../domain/credits/order.js";
import { PANORAMA_POLICY, type PanoramaPolicy, panoramaPolicy } from "../domain/panorama-policy.js";
import { identityOf } from "./settings/identity-of.js";
import { sentenceOf } from "./settings/setting-sentence.js";
import { type SettingsFile, settingsSchema } from "./settings/settings-schema.js";
import { unreadableFile } from "./unreadable-file.js";
import type { SuccessOf } from "./variables.js";

/**
 * Environment values that the settings depend on. `hasRealProvider`: panoramas cost the operator money. `sendsMail`:
 * e-mail addresses are confirmed. `seamMax`: from SEAM_MAX, instead of `results.seamMax`.
 */
export type SettingsContext = {
  readonly hasRealProvider: boolean;
  readonly sendsMail: boolean;
  readonly seamMax?: number | undefined;
};

/** Welcome credits with the local provider: pays for three panoramas in 1k at the default price. */
const LOCAL_WELCOME_CREDITS = 12;

const MIB = 1024 * 1024;

/**
 * Reads the file, or returns the defaults without one. The error is one line that names the file, the setting, its
 * value and what is allowed.
 */
export const readSettings = (file: string | undefined, context: SettingsContext): Result<Settings, string> => {
  if (file === undefined) return settingsOf({}, context);
  const wrong = (what: string) => `Bad configuration: PANORAMA_SETTINGS=${file}: ${what}.`;
  const read = Result.fromThrowable(
    () => readFileSync(file, "utf8"),
    (error) => wrong(`the file cannot be read: ${unreadableFile(error as Error)}`),
  );
  const parse = Result.fromThrowable(
    (text: string): unknown => JSON.parse(text),
    (error) => wrong(`the file is not JSON: ${(error as Error).message}`),
  );
  return read()
    .andThen((text) => parse(text.replace(/^\uFEFF/, "")))
    .andThen((content) => parseSettings(content, context).mapErr(wrong));
};

/** Parses the content of the file. The error names the setting, its value and the allowed values. */
export const parseSettings = (content: unknown, context: SettingsContext): Result<Settings, string> => {
  const parsed = settingsSchema.safeParse(content, { reportInput: true });
  if (!parsed.success) return err(sentenceOf(parsed.error.issues[0], content, settingsSchema));
  return settingsOf(parsed.data, context);
};

const settingsOf = (
  {
    prices = {},
    creditPacks,
    limits = {},
    results = {},
    suspendOnDispute,
    identity = {},
    signUp = "open",
    gallery = "open",
    welcomeCredits,
    receiptText,
    paymentText,
    providerPrompt,
  }: SettingsFile,
  { hasRealProvider, sendsMail, seamMax }: SettingsContext,
) => {
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
  const checkedIdentity = identityOf(identity);
  if (checkedIdentity.isErr()) return err(checkedIdentity.error);
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
    identity: checkedIdentity.value,
    signUp,
    gallery,
    welcomeCredits: credits(welcomeCredits ?? (hasRealProvider ? 0 : LOCAL_WELCOME_CREDITS)),
    providerPrompt,
    resultBounds: { ...results, seamMax: seamMax ?? results.seamMax },
    receiptText,
    paymentText,
  });
};

/** Business settings of an installation, from the file that `PANORAMA_SETTINGS` names. */
export type Settings = Readonly<SuccessOf<ReturnType<typeof settingsOf>>>;

/** Credit packs, smallest first. */
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
  const { uploads: defaults } = PANORAMA_POLICY;
  const limits = {
    filesMax: files ?? defaults.filesMax,
    fileBytesMax: file === undefined ? defaults.fileBytesMax : file * MIB,
    totalBytesMax: total === undefined ? defaults.totalBytesMax : total * MIB,
    requestBytesMax: request === undefined ? defaults.requestBytesMax : request * MIB,
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
