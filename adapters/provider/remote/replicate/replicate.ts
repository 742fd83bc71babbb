import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import type { Cancellation, Progress, ProviderUnavailable } from "../../../../application/ports/generation-provider.js";
import type { PixelSize, Resolution } from "../../../../domain/resolution.js";
import { jsonOf, parseBody } from "../answers/body.js";
import { failedAs } from "../answers/failed-as.js";
import { nonEmpty } from "../answers/non-empty.js";
import { succeededWith } from "../answers/succeeded-with.js";
import type { Answer } from "../calls/upstream-http.js";
import { correlationSeed } from "../correlation-seed.js";
import type { Dialect, ProviderAccess } from "../dialect.js";
import { dataUri } from "../images/data-uri.js";
import { paintMask, panoramaCanvas } from "../images/panorama-canvas.js";
import { type HostedImages, referenceInput } from "../images/reference-input.js";
import { replicateSignature } from "./replicate-signature.js";
import { ReplicateVersion } from "./replicate-version.js";

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
/** Of 0 to 1, where 1 ignores the given image. The default of the models, 0.8, repaints most of it. */
const UNMASKED_PROMPT_STRENGTH = 0.6;
/** For the area outside the mask: its plain colour needs no keeping. */
const MASKED_PROMPT_STRENGTH = 0.95;

const createdSchema = z.object({ id: nonEmpty });
const predictionSchema = z.object({
  status: z.string(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  data_removed: z.boolean().nullish(),
});
const listSchema = z.object({
  results: z.array(
    z.object({ id: z.string(), input: z.looseObject({ seed: z.unknown().optional() }).nullish().catch(undefined) }),
  ),
  next: z.string().nullish(),
});

/** `model` is `owner/name` or `owner/name:version`. */
export type ReplicateSettings = ProviderAccess & { readonly model: string };

/**
 * Replicate, with a FLUX.1 LoRA that the platform's trainer has made for panoramas: from a prompt and at most one
 * reference image. The seed identifies the task.
 */
export const replicate = ({ apiKey, baseUrl, model }: ReplicateSettings): Dialect => {
  const version = new ReplicateVersion(model);
  return {
    name: "replicate",
    baseUrl,
    authorization: { authorization: `Bearer ${apiKey}` },
    defaults: { callsPerSecond: 40, pauseSeconds: 30, concurrencyMax: undefined },

    /** Also finds the version that creations run. */
    check: async (read) => (await version.find(read)).map(() => undefined),

    creation: ({ taskId, request }, { webhookUrl, deadlineSeconds, storage, read }) => ({
      path: "/predictions",
      headers: { "cancel-after": `${Math.max(CANCEL_AFTER_SECONDS_MIN, deadlineSeconds)}s` },
      async body() {
        // If the provider could not be reached at the start, the version is looked up now: nothing is sent without it.
        const found = await version.find(read);
        if (found.isErr()) return err(found.error.reason);
        const { id, inputs } = found.value;
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
        const image = url === undefined ? ok({}) : await imageInputs(storage, url, inputs.has("mask"));
        return image.map((given) => ({ version: id, input: { ...settings, ...given }, ...webhook }));
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

    /** Only while it has not started: afterwards it is billed for its time. */
    async cancel(upstreamTaskId, { read, confirm, change }) {
      const path = `/predictions/${encodeURIComponent(upstreamTaskId)}`;
      const before = statusOf(await read(path));
      if (before.isErr() || before.value !== "starting") return before.map(cancellationOf);
      const answer = statusOf(await change("POST", `${path}/cancel`));
      if (answer.isErr() || answer.value !== "starting") return answer.map(cancellationOf);
      const after = await confirm(
        async () => statusOf(await read(path)),
        (status) => status === "starting",
      );
      return after.map(cancellationOf);
    },

    listSince: (since) => ({
      firstPath: `/predictions?${new URLSearchParams({ created_after: since.toISOString() })}`,
      pageOf: (body) =>
        parseBody(listSchema, "a list of predictions", body).map(({ results, next }) => ({
          tasks: results.map(({ id, input }) => ({ id, seed: input?.seed })),
          nextUrl: next || undefined,
          // The provider removes inputs after an hour.
          allSeedsKnown: results.every(({ input }) => Object.keys(input ?? {}).length > 0),
        })),
    }),

    signatureOf: (http, clock) => replicateSignature({ apiKey, baseUrl }, http, clock),
  };
};

const statusOf = (answer: Result<Answer, ProviderUnavailable>): Result<string, ProviderUnavailable> =>
  answer
    .andThen(jsonOf)
    .andThen((body) => parseBody(predictionSchema, "a prediction", body))
    .map(({ status }) => status);

/** `aborted` is the only end before the start. A poll finds any other end. */
const cancellationOf = (status: string): Cancellation => (status === "aborted" ? "canceled" : "too_late");

const resultOf = (output: unknown, removed: boolean): Progress => {
  const url: unknown = Array.isArray(output) ? output[0] : output;
  if (typeof url === "string") return succeededWith(url);
  return { state: "failed", reason: removed ? "the result has been removed already" : "there is no result" };
};

type ImageInputs = { readonly image: string; readonly mask?: string; readonly prompt_strength: number };

/**
 * The inputs for a reference image. It is on a canvas, because the result gets the shape of this image. A photo is kept
 * by a mask if the version has one; anything else is kept by a low `prompt_strength`.
 */
const imageInputs = async (
  storage: HostedImages,
  url: string,
  hasMask: boolean,
): Promise<Result<ImageInputs, string>> => {
  const given = await referenceInput(storage, url, async (bytes): Promise<Result<string | ImageInputs, string>> => {
    const canvas = await panoramaCanvas(bytes);
    if (canvas.isErr()) return err(canvas.error);
    const { jpeg, photo } = canvas.value;
    const image = dataUri("image/jpeg", jpeg);
    if (!hasMask || photo === undefined) return ok(image);
    const mask = dataUri("image/png", await paintMask(photo));
    return ok({ image, mask, prompt_strength: MASKED_PROMPT_STRENGTH });
  });
  return given.map((image) =>
    typeof image === "string" ? { image, prompt_strength: UNMASKED_PROMPT_STRENGTH } : image,
  );
};
