import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import { milliseconds, ownServer } from "../variables.js";

/** The variables of the moderation. */
export const moderationVariables = {
  MODERATION: z.enum(["off", "openai", "http", "words"]).default("off"),
  MODERATION_URL: ownServer.optional(),
  MODERATION_API_KEY: z.string().optional(),
  MODERATION_MODEL: z.string().min(1).default("omni-moderation-latest"),
  MODERATION_WORDS_FILE: z.string().min(1).optional(),
  MODERATION_TIMEOUT_MS: milliseconds(100).max(20_000).default(5_000),
  MODERATION_WHEN_UNAVAILABLE: z.enum(["refuse", "allow"]).default("refuse"),
};

/** `whenUnavailable`, `timeoutMilliseconds`: as in the settings of the application. */
export type ModerationConfig = {
  readonly timeoutMilliseconds: number;
  readonly whenUnavailable: "refuse" | "allow";
} & (
  | { readonly kind: "openai"; readonly baseUrl: string; readonly apiKey: string; readonly model: string }
  | { readonly kind: "http"; readonly url: string; readonly token: string }
  | { readonly kind: "words"; readonly file: string }
);

const OPENAI_URL = "https://api.openai.com/v1";

type Data = z.infer<z.ZodObject<typeof moderationVariables>>;

/** `undefined`: nothing is moderated. */
export const moderationOf = (data: Data): Result<ModerationConfig | undefined, string> => {
  const common = {
    timeoutMilliseconds: data.MODERATION_TIMEOUT_MS,
    whenUnavailable: data.MODERATION_WHEN_UNAVAILABLE,
  };
  const { MODERATION: kind, MODERATION_URL: url, MODERATION_API_KEY: key, MODERATION_WORDS_FILE: file } = data;
  const needs = (what: string) => err(`Bad configuration: MODERATION=${kind} needs ${what}.`);
  switch (kind) {
    case "off":
      return ok(undefined);
    case "openai":
      if (key === undefined) return needs("MODERATION_API_KEY, a key of OpenAI");
      return ok({ ...common, kind, baseUrl: url ?? OPENAI_URL, apiKey: key, model: data.MODERATION_MODEL });
    case "http":
      if (url === undefined || key === undefined) return needs("MODERATION_URL and MODERATION_API_KEY");
      return ok({ ...common, kind, url, token: key });
    case "words":
      return file === undefined ? needs("MODERATION_WORDS_FILE") : ok({ ...common, kind, file });
  }
};
