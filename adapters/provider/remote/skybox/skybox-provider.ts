import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type {
  Cancellation,
  GenerationOrder,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import { unavailable } from "../../sound-reference.js";
import { bodyIn, createdIn, failedAs, meaningOf, nonEmpty, parseBody, succeededWith } from "../answers/read-answer.js";
import type { Answer } from "../calls/upstream-call.js";
import {
  type CancelCalls,
  type CreationContext,
  checkedJson,
  correlationSeed,
  type ProviderAccess,
  type Read,
  type RemoteDialect,
  type Report,
  unchecked,
  wrongSetting,
} from "../dialect.js";
import { panoramaCanvas } from "../images/panorama-canvas.js";
import { referenceInput } from "../images/reference-input.js";
import { NEUTRAL_PROMPT } from "../leading-prompt.js";
import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { type CheckFailure, type OpenProvider, REMOTE_DEFAULTS, type RemoteOptions } from "../remote-options.js";

/** Options of Skybox AI. Only `apiKey` is required. */
export type SkyboxOptions = RemoteOptions & {
  readonly apiKey: string;
  /** The number of a style of Skybox (`GET /skybox/styles`). By default 67. */
  readonly styleId?: number | undefined;
  /** By default `https://backend.blockadelabs.com/api/v1`. */
  readonly baseUrl?: string | undefined;
};

/**
 * Opens Skybox AI by Blockade Labs: panoramas of 4096 or 8192 pixels, from a prompt and at most one reference image.
 * Calls nothing yet: see `check`. Throws if an option cannot be right.
 */
export const skyboxProvider = (options: SkyboxOptions): OpenProvider => {
  const { skybox: defaults } = REMOTE_DEFAULTS;
  const { styleId = defaults.styleId, baseUrl = defaults.baseUrl } = options;
  const apiKey = headerSecret("apiKey", options.apiKey);
  return openRemote(skybox({ apiKey, baseUrl: baseUrlOf(baseUrl), styleId }), options, apiKey);
};

/** For a style whose limit is not known. */
const PROMPT_CHARACTERS_MAX = 2000;
/** All are searched for the style: the documentation does not say whether the first list leaves out some versions. */
const STYLE_LISTS = ["", "?model_version=4", "?model_version=3", "?model_version=2"].map(
  (query) => `/skybox/styles${query}`,
);
/** The middle: the documentation and its users disagree whether 0 or 1 is the strongest influence of the image. */
const INIT_STRENGTH = 0.5;
const PAGE_SIZE = 100;

const idSchema = z.union([z.number(), nonEmpty]).transform(String);
const stylesSchema = z.array(
  z.object({ id: idSchema, "max-char": z.coerce.number().int().min(1).optional().catch(undefined) }),
);
const createdSchema = z.object({ id: idSchema });
const errorSchema = z.object({ error: z.unknown().refine(Boolean) });
const generationSchema = z.object({
  status: z.string(),
  file_url: z.string().nullish(),
  error_message: z.unknown().optional(),
});
/** The documentation wraps it in `request`, the Unity client in `imagine`; an answer to a creation is not wrapped. */
const polledSchema = z.union([
  z.object({ request: generationSchema }).transform(({ request }) => request),
  z.object({ imagine: generationSchema }).transform(({ imagine }) => imagine),
  generationSchema,
]);
const listSchema = z.object({
  data: z.array(z.object({ id: idSchema, seed: z.number().nullish() })),
  has_more: z.boolean().optional(),
});

/** `styleId` selects the model as well. */
type SkyboxSettings = ProviderAccess & { readonly styleId: number };

/**
 * Skybox AI by Blockade Labs: panoramas of 4096 or 8192 pixels, from a prompt and at most one reference image. It has
 * no field for our task id, so the seed identifies the task.
 */
export const skybox = ({ apiKey, baseUrl, styleId }: SkyboxSettings): RemoteDialect => {
  let promptCharactersMax = PROMPT_CHARACTERS_MAX;
  /**
   * The documentation does not say whether the list contains what was made over the API. Until it has shown one of our
   * generations, a task that is not in the list may exist all the same. `ourId` is the latest one that this process has
   * created. Until it creates one, it is the first one that it has polled.
   */
  let listShowsOurs = false;
  let ourId: string | undefined;
  return {
    name: "skybox",
    baseUrl,
    authorization: { "x-api-key": apiKey },
    // `concurrencyMax`: limit of the Standard plan; Business has 2.
    defaults: { callsPerSecond: 10, pauseSeconds: 10, concurrencyMax: 1 },

    abilities: () => ({ imagesMin: 0, imagesMax: 1, promptCharactersMax }),

    /** Checks the key and style, and sets `promptCharactersMax` to the limit of the style. */
    async check(read) {
      const style = await findStyle(styleId, read);
      if (style.isOk()) promptCharactersMax = style.value["max-char"] ?? PROMPT_CHARACTERS_MAX;
      return style.map(() => undefined);
    },

    creation: (order, context) => ({ path: "/skybox", body: () => inputOf(styleId, order, context) }),

    upstreamTaskIdOf(body) {
      const created = createdIdIn(body);
      if (created.isOk()) ourId = created.value;
      return created;
    },

    pollPath(upstreamTaskId) {
      ourId ??= upstreamTaskId;
      return generationPath(upstreamTaskId);
    },
    reportOf,
    cancel,
    discardPath: async (upstreamTaskId) => ok(`/imagine/deleteImagine/${encodeURIComponent(upstreamTaskId)}`),

    listSince: () => ({
      firstPath: pathOfPage(0),
      pageOf: (body, page) =>
        parseBody(listSchema, "a list of generations", body).map(({ data, has_more }) => {
          listShowsOurs ||= data.some(({ id }) => id === ourId);
          const complete = has_more !== undefined || data.length < PAGE_SIZE;
          return {
            tasks: data.map(({ id, seed }) => ({ id, seed })),
            nextUrl: has_more === true ? baseUrl + pathOfPage(page + 1) : undefined,
            allSeedsKnown: listShowsOurs && complete && data.every(({ seed }) => typeof seed === "number"),
          };
        }),
    }),
    // No `signatureOf`: Skybox AI says that it signs its webhooks, but not how.
  };
};

const findStyle = async (
  styleId: number,
  read: Read,
): Promise<Result<z.infer<typeof stylesSchema>[number], CheckFailure>> => {
  for (const path of STYLE_LISTS) {
    const json = checkedJson(await read(path), "SKYBOX_API_KEY");
    if (json.isErr()) return err(json.error);
    const styles = parseBody(stylesSchema, "a list of styles", json.value);
    if (styles.isErr()) return err(unchecked(styles.error.reason));
    const style = styles.value.find(({ id }) => id === String(styleId));
    if (style !== undefined) return ok(style);
  }
  return err(
    wrongSetting(`SKYBOX_STYLE_ID=${styleId}: the provider has no such style; set one of its list, GET /skybox/styles`),
  );
};

const inputOf = async (
  styleId: number,
  { taskId, request }: GenerationOrder,
  { webhookUrl, storage }: CreationContext,
): Promise<Result<unknown, string | SubmissionFailure>> => {
  const input = {
    prompt: request.prompt ?? NEUTRAL_PROMPT,
    skybox_style_id: styleId,
    seed: correlationSeed(taskId),
    ...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
  };
  const [url] = request.imageUrls;
  if (url === undefined) return ok(input);
  const image = await referenceInput(storage, url, base64Canvas);
  return image.map((init_image) => ({ ...input, init_image, init_strength: INIT_STRENGTH }));
};

const createdIdIn = (body: unknown): Result<string, SubmissionFailure> => {
  if (errorSchema.safeParse(body).success) return err({ kind: "refused", reason: "the answer is an error" });
  return createdIn(createdSchema, "task id", body).map(({ id }) => id);
};

const generationPath = (upstreamTaskId: string): string => `/imagine/requests/${encodeURIComponent(upstreamTaskId)}`;

const reportOf = (body: unknown): Result<Report, ProviderUnavailable> =>
  parseBody(polledSchema, "a generation", body).map(({ status, file_url, error_message }): Report => {
    switch (status) {
      case "complete":
        return file_url
          ? succeededWith(file_url)
          : { state: "uncertain", reason: "complete, but without an image", duringGracePeriod: "running" };
      case "abort":
      case "error":
        return failedAs(status, error_message);
      case "pending":
      case "dispatched":
      case "processing":
        return { state: "running" };
      default:
        return { state: "unknown", status };
    }
  });

/** Only while it is queued: it is not known whether a generation that has started is billed. */
const cancel = async (
  upstreamTaskId: string,
  { read, confirm, change }: CancelCalls,
): Promise<Result<Cancellation, ProviderUnavailable>> => {
  const path = generationPath(upstreamTaskId);
  const before = statusOf(await read(path));
  if (before.isErr() || before.value !== "pending") return before.map(() => "too_late");
  const deleted = await change("DELETE", path);
  if (deleted.isErr()) return err(deleted.error);
  if (deleted.value.status >= 300) return err(unavailable(meaningOf(deleted.value)));
  const after = await confirm(
    async () => statusOf(await read(path)),
    (status) => status === "pending",
  );
  return after.map((status) => (status === "abort" ? "canceled" : "too_late"));
};

const statusOf = (answer: Result<Answer, ProviderUnavailable>): Result<string, ProviderUnavailable> =>
  bodyIn(answer, polledSchema, "a generation").map(({ status }) => status);

/** The provider's `offset` is the number of a page. */
const pathOfPage = (page: number): string => `/imagine/myRequests?order=DESC&limit=${PAGE_SIZE}&offset=${page}`;

const base64Canvas = async (bytes: Uint8Array): Promise<Result<string, string>> =>
  (await panoramaCanvas(bytes)).map(({ jpeg }) => jpeg.toString("base64"));
