import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import type { Progress } from "../../../../application/ports/generation-provider.js";
import type { PixelSize, Resolution } from "../../../../domain/resolution.js";
import { parseBody } from "../answers/body.js";
import { failedAs } from "../answers/failed-as.js";
import { succeededWith } from "../answers/succeeded-with.js";
import { correlationSeed } from "../correlation-seed.js";
import type { Dialect, ProviderAccess } from "../dialect.js";
import { panoramaCanvas } from "../images/panorama-canvas.js";
import { referenceInput } from "../images/reference-input.js";
import { checkedJson, misconfigured } from "../start-check.js";
import { replicateSignature } from "./replicate-signature.js";

/** `TOK` is the trigger word of FLUX models that the platform's trainer has made. */
const PROMPT_PREFIX = "TOK, 360 degree equirectangular panorama, seamless";
/** The largest 2:1 size that these models make; multiples of 16. */
const LARGEST: PixelSize = { widthPixels: 1440, heightPixels: 720 };
const SIZES: Record<Resolution, PixelSize> = {
  "1k": { widthPixels: 1024, heightPixels: 512 },
  "2k": LARGEST,
  "4k": LARGEST,
};
const CANCEL_AFTER_SECONDS_MIN = 5;

const createdSchema = z.object({ id: z.string().min(1) });
const predictionSchema = z.object({
  status: z.string(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  data_removed: z.boolean().nullish(),
});
const listSchema = z.object({
  results: z.array(z.object({ id: z.string(), input: z.object({ seed: z.unknown().optional() }).nullish() })),
  next: z.string().nullish(),
});

/** `model` is `owner/name` or `owner/name:version`. */
export type ReplicateSettings = ProviderAccess & { readonly model: string };

/**
 * Replicate, with a FLUX.1 LoRA that the platform's trainer has made for panoramas: from a prompt and at most one
 * reference image. The seed identifies the task.
 */
export const replicate = ({ apiKey, baseUrl, model }: ReplicateSettings): Dialect => ({
  name: "replicate",
  baseUrl,
  authorization: { authorization: `Bearer ${apiKey}` },
  defaults: { callsPerSecond: 40, pauseSeconds: 30, concurrencyMax: undefined },

  async check(read) {
    const [name] = model.split(":");
    const answer = await read(`/models/${name}`);
    if (answer.isOk() && answer.value.status === 404) {
      return err(misconfigured(`REPLICATE_MODEL=${model}: the provider has no such model; set one that it has`));
    }
    return checkedJson(answer, "REPLICATE_API_KEY").map(() => undefined);
  },

  creation: ({ taskId, request }, { webhookUrl, deadlineSeconds, storage }) => ({
    path: "/predictions",
    headers: { "cancel-after": `${Math.max(CANCEL_AFTER_SECONDS_MIN, deadlineSeconds)}s` },
    async body() {
      const { widthPixels, heightPixels } = SIZES[request.resolution];
      const settings = {
        prompt: request.prompt === undefined ? PROMPT_PREFIX : `${PROMPT_PREFIX}, ${request.prompt}`,
        aspect_ratio: "custom",
        width: widthPixels,
        height: heightPixels,
        // Custom sizes need it off.
        go_fast: false,
        num_outputs: 1,
        output_format: "png",
        seed: correlationSeed(taskId),
      };
      const [url] = request.imageUrls;
      const webhook = webhookUrl === undefined ? {} : { webhook: webhookUrl, webhook_events_filter: ["completed"] };
      const image = url === undefined ? ok({}) : (await referenceInput(storage, url, canvasAsDataUri)).map(asImage);
      return image.map((given) => ({ version: model, input: { ...settings, ...given }, ...webhook }));
    },
  }),

  upstreamTaskIdOf(body) {
    const { data } = createdSchema.safeParse(body);
    return data === undefined ? err({ kind: "unknown", reason: "the answer has no task id" }) : ok(data.id);
  },

  pollPath: (upstreamTaskId) => `/predictions/${encodeURIComponent(upstreamTaskId)}`,

  reportOf: (body) =>
    parseBody(predictionSchema, "a prediction", body).map(({ status, output, error, data_removed }) => {
      switch (status) {
        case "succeeded":
          return resultOf(output, data_removed === true);
        case "failed":
        case "canceled":
        case "aborted":
          return failedAs(status, error);
        case "starting":
        case "processing":
          return { state: "running" };
        default:
          return { state: "unknown", status };
      }
    }),

  list: {
    firstPath: "/predictions",
    pageOf: (body) =>
      parseBody(listSchema, "a list of predictions", body).map(({ results, next }) => ({
        tasks: results.map(({ id, input }) => ({ id, seed: input?.seed })),
        nextUrl: next || undefined,
      })),
  },

  signatureOf: (http, clock) => replicateSignature({ apiKey, baseUrl }, http, clock),
});

const resultOf = (output: unknown, removed: boolean): Progress => {
  const url: unknown = Array.isArray(output) ? output[0] : output;
  if (typeof url === "string") return succeededWith(url);
  return { state: "failed", reason: removed ? "the result has been removed already" : "there is no result" };
};

const asImage = (image: string) => ({ image });

/** On a canvas, because the result gets the shape of this image. */
const canvasAsDataUri = async (bytes: Uint8Array): Promise<Result<string, string>> =>
  (await panoramaCanvas(bytes)).map((canvas) => `data:image/jpeg;base64,${canvas.toString("base64")}`);
