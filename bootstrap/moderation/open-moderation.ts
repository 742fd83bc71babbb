import { readFile } from "node:fs/promises";
import type { Moderation } from "../../application/ports/moderation.js";
import { ConfigurationError } from "../configuration-error.js";
import type { ModerationConfig } from "./moderation-config.js";

/** Throws a `ConfigurationError` if the list of words cannot be read. */
export const openModeration = async (config: ModerationConfig): Promise<Moderation> => {
  switch (config.kind) {
    case "openai":
      return (await import("../../adapters/moderation/open-ai-moderation.js")).openAiModeration(config);
    case "http":
      return (await import("../../adapters/moderation/http-moderation.js")).httpModeration(config);
    case "words": {
      const { parseWordList, wordListModeration } = await import("../../adapters/moderation/word-list-moderation.js");
      const wrong = (problem: string) => new ConfigurationError(`MODERATION_WORDS_FILE=${config.file}: ${problem}.`);
      const text = await readFile(config.file, "utf8").catch((error: Error) => {
        throw wrong(error.message);
      });
      return parseWordList(text).match(wordListModeration, (problem) => {
        throw wrong(problem);
      });
    }
  }
};
