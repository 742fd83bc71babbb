import { err } from "neverthrow";
import { PanoramaClient } from "../../adapters/client/panorama-client.js";
import { parseServiceUrl } from "../../adapters/client/service-url.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { generatePanorama, stateOf, type TaskChange } from "../../adapters/terminal/generate-panorama.js";
import { progressOn, silentProgress } from "../../adapters/terminal/progress-display.js";
import { rulePredicate } from "../../adapters/wording/rule-predicate.js";
import { misconfigured } from "../command-error.js";
import { tokens } from "../tokens.js";
import { useProxy } from "../use-proxy.js";
import { type Command, optionalText, textOf } from "./common/command.js";

/** For one call with its retries. Longer than the MCP server's timeout: a user can wait for a large upload. */
const TIMEOUT_MILLISECONDS = 180_000;

export const generate: Command = {
  words: "generate",
  about:
    "Generates a panorama with the service, waits until its image is stored, and saves it to a file. Ctrl-C stops waiting and prints the task id; the task continues. It needs PANORAMA_API_KEY, and PANORAMA_BASE_URL for a service elsewhere, and uses HTTPS_PROXY.",
  usage:
    "[PROMPT] [--image FILE_URL_OR_ID ...] [--resolution 1k] [--visibility private] [--seed N] [--max-credits N] [--out FILE] [--watch]",
  options: {
    image: {
      type: "string",
      multiple: true,
      default: [],
      about: "reference image: a file, a URL, or the id of an own panorama",
    },
    resolution: { type: "string", default: "1k", about: "1k, 2k or 4k" },
    visibility: { type: "string", default: "private", about: "private or public" },
    seed: { type: "string", about: "gives the same picture again, if the provider supports seeds" },
    "max-credits": { type: "string", about: "maximum cost in credits" },
    out: { type: "string", about: "file for the image" },
    watch: { type: "boolean", default: false, about: "print a line for each change of the task; with --json the task" },
  },
  positional: "prompt",
  required: [],
  example: 'generate "a quiet lake at sunset" --resolution 2k --out lake.jpg',
  isClient: true,
  run: async (service, values) => {
    const { publicUrl } = await service.get(tokens.config);
    const clock = new SystemClock();
    const apiKey = (process.env.PANORAMA_API_KEY ?? "").trim();
    if (apiKey === "") return err(misconfigured("PANORAMA_API_KEY is not set. Set it to your API key (sk-...)."));
    const baseUrl = parseServiceUrl(process.env.PANORAMA_BASE_URL || publicUrl);
    if (baseUrl.isErr()) return err(misconfigured(`PANORAMA_BASE_URL: ${rulePredicate(baseUrl.error.rule)}`));

    const proxyProblem = await useProxy();
    if (proxyProblem !== undefined) return err(misconfigured(proxyProblem));
    const client = new PanoramaClient({ baseUrl: baseUrl.value, apiKey, timeout: TIMEOUT_MILLISECONDS }, clock);
    const watches = values.watch === true;
    // With --watch, the lines on standard output say what plain lines on standard error would.
    const silent = values.json === true || (watches && !process.stderr.isTTY);
    const progress = silent ? silentProgress : progressOn(process.stderr, clock);
    const print = (task: TaskChange) => {
      progress.clear();
      console.log(values.json === true ? JSON.stringify(task) : `Task ${task.id}: ${stateOf(task)}`);
    };
    const interrupted = new AbortController();
    const interrupt = () => interrupted.abort();
    process.once("SIGINT", interrupt);
    process.stdout.once("error", interrupt); // the reader of the pipe has ended
    const generated = await generatePanorama(
      { client, progress, signal: interrupted.signal, ...(watches ? { onChange: print } : {}) },
      {
        prompt: optionalText(values, "prompt"),
        images: (values.image ?? []) as string[],
        resolution: textOf(values, "resolution"),
        visibility: textOf(values, "visibility"),
        seed: optionalText(values, "seed"),
        maxCredits: optionalText(values, "max-credits"),
        out: optionalText(values, "out"),
      },
    );
    progress.end();
    if (generated.isErr() && interrupted.signal.aborted) return err({ ...generated.error, kind: "interrupted" });
    return generated.map(({ task, output, file }) => ({
      json: { ...task, file },
      lines: [
        `Saved   ${file}`,
        ...(output.viewer_url ? [`Viewer  ${output.viewer_url}`] : []),
        `Image   ${output.image_url}`,
      ],
    }));
  },
};
