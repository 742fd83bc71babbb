import { err, ok, type Result } from "neverthrow";
import { isSeed, SEED_MAX } from "../../domain/tasks/seed.js";
import { type CommandError, misconfigured, misused } from "../command-error.js";
import { type Config, readConfig } from "../config.js";
import { providerVariables } from "../providers/provider-config.js";
import { tokens } from "../tokens.js";
import { type Command, optionalText, text, type Values } from "./common/command.js";

const COUNT_MAX = 1000;

export const providerTry: Command = {
  words: "provider try",
  about:
    "Makes the same pictures at several providers, without accounts and credits, and writes a page that compares them. Providers charge for the pictures.",
  usage: "--out DIR [--providers LIST] [--prompts FILE] [--images FILE ...] [--count N] [--resolution 2k] [--seed 1]",
  options: {
    out: { type: "string", about: "folder for the pictures, index.html and results.json; empty, or not there yet" },
    providers: { type: "string", about: "as PROVIDER, which is used if it is left out" },
    prompts: { type: "string", about: "file with one prompt in each line; by default five prompts of this service" },
    images: {
      type: "string",
      multiple: true,
      default: [],
      about: "reference image for each prompt; up to three times",
    },
    count: { type: "string", about: "pictures of each provider; by default one for each prompt" },
    resolution: { type: "string", default: "2k", about: "1k, 2k or 4k" },
    seed: { type: "string", default: "1", about: "of the first round of prompts; each further round has the next one" },
  },
  required: ["out"],
  example: "provider try --providers fal:seedream-4.5,replicate:bytedance/seedream-4 --count 20 --out trial",
  run: async (service, values) => {
    const config = configWith(await service.get(tokens.config), optionalText(values, "providers"));
    if (config.isErr()) return err(config.error);
    const count = integerOf(values, "count", 1, COUNT_MAX);
    if (count.isErr()) return err(count.error);
    const seed = integerOf(values, "seed", 0, SEED_MAX);
    if (seed.isErr()) return err(seed.error);
    const interrupted = new AbortController();
    process.once("SIGINT", () => interrupted.abort());
    // Most commands need none of its modules.
    const { runTrial } = await import("../trial/run-trial.js");
    return runTrial(config.value, {
      out: text(values, "out"),
      promptsFile: optionalText(values, "prompts"),
      images: (values.images ?? []) as string[],
      count: count.value,
      resolution: text(values, "resolution"),
      seed: seed.value ?? 0,
      signal: interrupted.signal,
      print: values.json === true ? () => {} : (line) => console.error(line),
    });
  },
};

/** The configuration with `--providers` in the place of `PROVIDER`. */
const configWith = (config: Config, providers: string | undefined): Result<Config, CommandError> => {
  if (providers === undefined) return ok(config);
  const parsed = providerVariables.PROVIDER.safeParse(providers);
  if (!parsed.success) {
    return err(misused(`--providers ${JSON.stringify(providers)}: ${parsed.error.issues[0]?.message}.`));
  }
  return readConfig({ ...process.env, PROVIDER: providers }).mapErr((message) =>
    misconfigured(message.replace("PROVIDER=", "--providers ")),
  );
};

const integerOf = (
  values: Values,
  option: string,
  min: number,
  max: number,
): Result<number | undefined, CommandError> => {
  const given = optionalText(values, option);
  const number = given === undefined ? undefined : Number(given);
  return number === undefined || (isSeed(number) && given !== "" && number >= min && number <= max)
    ? ok(number)
    : err(misused(`--${option} must be an integer from ${min} to ${max}.`));
};
