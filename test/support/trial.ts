import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Result } from "neverthrow";
import type { CommandError } from "../../bootstrap/command-error.js";
import type { Output } from "../../bootstrap/commands/common/command.js";
import { readConfig } from "../../bootstrap/config.js";
import { runTrial, type TrialOptions } from "../../bootstrap/trial/run-trial.js";
import { builtClient } from "./built-client.js";
import { scratchFolder } from "./scratch-folder.js";

export type TrialPicture = Readonly<Record<string, unknown>>;

/** A run of `panorama provider try`: what it printed, and what it wrote. */
export type TrialRun = {
  readonly folder: string;
  readonly outcome: Result<Output, CommandError>;
  readonly lines: readonly string[];
  /** The content of results.json. */
  readonly results: () => Promise<{
    readonly providers: readonly TrialPicture[];
    readonly pictures: readonly TrialPicture[];
    readonly interrupted: boolean;
    readonly references: readonly string[];
  }>;
};

/** Runs it in this process, with this environment, by default with one small picture of each prompt. */
export const runTrialWith = async (
  environment: Readonly<Record<string, string>>,
  options: Partial<TrialOptions> = {},
): Promise<TrialRun> => {
  const folder = join(await scratchFolder(), "trial");
  const lines: string[] = [];
  const outcome = await runTrial(
    readConfig({ ...environment })._unsafeUnwrap(),
    {
      out: folder,
      promptsFile: undefined,
      images: [],
      count: undefined,
      resolution: "1k",
      seed: 1,
      signal: new AbortController().signal,
      ...options,
      print: (line) => {
        lines.push(line);
        options.print?.(line);
      },
    },
    await builtClient(),
  );
  const results = async () => JSON.parse(await readFile(join(folder, "results.json"), "utf8"));
  return { folder, outcome, lines, results };
};
