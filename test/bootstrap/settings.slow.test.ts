import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { offerOf } from "../../adapters/client/offer.js";
import { readConfig } from "../../bootstrap/config.js";
import { settingsJsonSchema } from "../../bootstrap/settings/settings-schema.js";
import { parseSettings, readSettings, type SettingsContext } from "../../bootstrap/settings.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { scratchFolder } from "../support/scratch-folder.js";

const LOCAL = { hasRealProvider: false, sendsMail: false };
type Schema = { readonly default?: unknown; readonly properties?: Readonly<Record<string, Schema>> };
/** The defaults of all settings in an object; `undefined` if there is none. */
const defaultsOf = ({ default: initial, properties = {} }: Schema): unknown => {
  const inner = Object.entries(properties).map(([name, property]) => [name, defaultsOf(property)]);
  const known = inner.filter(([, value]) => value !== undefined);
  return known.length === 0 ? initial : Object.fromEntries(known);
};

const parsed = (content: unknown, context: SettingsContext = LOCAL) => parseSettings(content, context)._unsafeUnwrap();

const PROMPT_RULE = "must be a text of at most 4000 characters that contains {prompt} once";

describe("the settings", () => {
  it("follow the specification without a file, and with an empty one", () => {
    const defaults = {
      policy: PANORAMA_POLICY,
      identity: {},
      signUp: "open",
      gallery: "open",
      welcomeCredits: 12,
      providerPrompt: undefined,
      receiptText: undefined,
      paymentText: undefined,
      resultBounds: { seamMax: undefined },
    };
    expect(readSettings(undefined, LOCAL)._unsafeUnwrap()).toEqual(defaults);
    expect(parsed({})).toEqual(defaults);
    expect(offerOf(PANORAMA_POLICY)).toEqual({
      prices: { "1k": 4, "2k": 6, "4k": 10 },
      active_tasks: 5,
      requests_per_minute: { read: 60, write: 10 },
      uploads: { files: 5, file_bytes: 10_485_760, total_bytes: 20_971_520, request_bytes: 26_214_400 },
      credit_packs: [
        { credits: 100, price_cents: 900, currency: "USD" },
        { credits: 500, price_cents: 3900, currency: "USD" },
        { credits: 2000, price_cents: 12_900, currency: "USD" },
      ],
    });
  });

  it("keep the default of each setting that is left out, and sort the packs", () => {
    const { policy } = parsed({
      prices: { "2k": 7 },
      limits: { writesPerMinute: 3, uploads: { files: 2 } },
      creditPacks: {
        currency: "EUR",
        packs: [
          { credits: 300, price: 19.99 },
          { credits: 50, price: 4.5 },
        ],
      },
    });
    expect(policy.prices).toEqual({ "1k": 4, "2k": 7, "4k": 10 });
    expect(policy.rates).toMatchObject({ read: { limit: 60 }, write: { limit: 3 }, total: { limit: 60 } });
    expect(policy.rates.login).toEqual(PANORAMA_POLICY.rates.login);
    expect(policy.uploads).toEqual({ ...PANORAMA_POLICY.uploads, filesMax: 2 });
    expect(policy.packs).toEqual([
      { credits: 50, priceCents: 450, currency: "EUR" },
      { credits: 300, priceCents: 1999, currency: "EUR" },
    ]);
  });

  it("bound the figures of results; SEAM_MAX sets the bound of the seam", () => {
    const results = { seamMax: 12.5, seamRatioMax: 8, poleDeviationMax: 30 };
    expect(parsed({ results }).resultBounds).toEqual(results);
    const { seamMax: _, ...others } = results;
    expect(parsed({ results: others }, { ...LOCAL, seamMax: 20 }).resultBounds).toEqual({ ...others, seamMax: 20 });
    expect(parseSettings({ results }, { ...LOCAL, seamMax: 20 })._unsafeUnwrapErr()).toBe(
      "results.seamMax is 12.5: must be omitted, because the variable SEAM_MAX is set",
    );
    expect(readConfig({ SEAM_MAX: "12.5" })._unsafeUnwrap()).toMatchObject({ resultBounds: { seamMax: 12.5 } });
  });

  it("give welcome credits with a paid provider only if the file sets them", () => {
    const real = { hasRealProvider: true, sendsMail: true };
    expect(parsed({}, real).welcomeCredits).toBe(0);
    expect(parsed({ welcomeCredits: 4 }, real).welcomeCredits).toBe(4);
    const unconfirmed = { hasRealProvider: true, sendsMail: false };
    expect(parsed({ welcomeCredits: 4, signUp: "invited" }, unconfirmed).welcomeCredits).toBe(4);
    expect(parseSettings({ welcomeCredits: 4 }, unconfirmed)._unsafeUnwrapErr()).toBe(
      "welcomeCredits is 4: must be 0, because everybody can sign up, panoramas of this provider cost money, and without SMTP_URL no address is confirmed; or set SMTP_URL, or signUp to invited",
    );
  });

  it.each<[unknown, string]>([
    [[], "the content is []: must be an object in braces"],
    [{ prices: { "2k": "6" } }, 'prices.2k is "6": must be an integer from 1 to 1000000'],
    [{ prices: { "3k": 5 } }, "prices.3k is not a setting. Did you mean prices.1k? Known here: 1k, 2k, 4k"],
    [{ signUp: "private" }, 'signUp is "private": must be one of open, invited, closed'],
    [
      { limits: { uploads: { fileMebibytes: 30 } } },
      "limits.uploads.totalMebibytes is 20: must not be smaller than fileMebibytes, which is 30",
    ],
    [
      { limits: { uploads: { totalMebibytes: 25 } } },
      "limits.uploads.requestMebibytes is 25: must be larger than totalMebibytes, which is 25",
    ],
    [{ creditPacks: { packs: [] } }, "creditPacks.currency is missing: must be one of AUD, BRL"],
    [{ creditPacks: { currency: "EUR", packs: [] } }, "creditPacks.packs is []: must have 1 to 10 packs"],
    [
      { creditPacks: { currency: "EUR", packs: [{ credits: 1, price: 0.001 }] } },
      "creditPacks.packs.0.price is 0.001: must be an amount from 0.50 to 999999.99 with at most two decimals",
    ],
    [
      {
        creditPacks: {
          currency: "EUR",
          packs: [
            { credits: 1, price: 1 },
            { credits: 1, price: 2 },
          ],
        },
      },
      "must not have two packs with the same number of credits",
    ],
    [{ providerPrompt: "{prompt} {prompt}" }, PROMPT_RULE],
    [{ providerPrompt: `{prompt}${"x".repeat(3993)}` }, PROMPT_RULE],
    [{ identity: { name: "a\nb" } }, 'identity.name is "a\\nb": must be a text of 1 to 40 characters on one line'],
    [
      { identity: { accent: "#ffcc00" } },
      'identity.accent is "#ffcc00": must be darker, because its contrast on a light background is 1.4, and text needs 4.5 (WCAG 2.2 AA)',
    ],
    [
      { identity: { accent: "#004400", accentOnDark: "#006600" } },
      'identity.accentOnDark is "#006600": must be lighter, because',
    ],
    [
      { identity: { accentOnDark: "#aab6ff" } },
      "identity.accent is missing: an accent needs a colour for light and one",
    ],
    [
      { identity: { accent: "#004400" } },
      "identity.accentOnDark is missing: an accent needs a colour for light and one",
    ],
  ])("are refused as %j", (content, sentence) => {
    expect(parseSettings(content, LOCAL)._unsafeUnwrapErr()).toContain(sentence);
  });

  it("are read from the file that PANORAMA_SETTINGS names, and an error names the file", async () => {
    const folder = await scratchFolder();
    const file = join(folder, "settings.json");
    const read = () => readConfig({ PANORAMA_SETTINGS: file });
    expect(read()._unsafeUnwrapErr()).toMatch(
      /^Bad configuration: PANORAMA_SETTINGS=.*settings\.json: the file cannot be read: there is none\. Correct the name\.$/,
    );
    for (const [name, why] of [
      [folder, "it is a folder. Name a file."],
      [`${import.meta.filename}/a.json`, "there is none. Correct the name."],
      ["a".repeat(5_000), "its name is too long. Correct the name."],
    ] as const)
      expect(readConfig({ PANORAMA_SETTINGS: name })._unsafeUnwrapErr()).toBe(
        `Bad configuration: PANORAMA_SETTINGS=${name}: the file cannot be read: ${why}`,
      );
    await writeFile(file, "{ prices: }");
    expect(read()._unsafeUnwrapErr()).toContain("settings.json: the file is not JSON: ");
    await writeFile(file, '{ "signUp": "clsoed" }');
    expect(read()._unsafeUnwrapErr()).toBe(
      `Bad configuration: PANORAMA_SETTINGS=${file}: signUp is "clsoed": must be one of open, invited, closed.`,
    );
    await writeFile(file, '\ufeff{ "signUp": "closed", "results": { "seamMax": 7 } }');
    expect(read()._unsafeUnwrap()).toMatchObject({ signUp: "closed", resultBounds: { seamMax: 7 } });
  });

  it("include a valid example", () => {
    const { examples = [] } = settingsJsonSchema() as { examples?: unknown[] };
    const settings = parsed(examples[0], { hasRealProvider: true, sendsMail: true });
    expect(settings).toMatchObject({ signUp: "invited", gallery: "off", welcomeCredits: 8 });
  });

  it("use the defaults of their schema", () => {
    const { identity: _, ...defaults } = parsed({});
    const { identity: __, ...said } = parsed(defaultsOf(settingsJsonSchema()));
    expect(said).toEqual(defaults);
    expect(defaultsOf(settingsJsonSchema())).toMatchObject({ limits: { readsPerMinute: 60 }, signUp: "open" });
  });
});
