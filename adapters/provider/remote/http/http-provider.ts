import { err, Result } from "neverthrow";
import * as z from "zod";
import {
  CUSTOMERS_CAUSES,
  type GenerationOrder,
  type ProviderUnavailable,
} from "../../../../application/ports/generation-provider.js";
import type { TaskId } from "../../../../domain/ids.js";
import { RESOLUTIONS } from "../../../../domain/images/resolution.js";
import { IMAGE_URLS_MAX, PROMPT_CHARACTERS_MAX } from "../../../../domain/tasks/abilities.js";
import { createdIn, failedAs, nonEmpty, parseBody, succeededWith } from "../answers/read-answer.js";
import {
  type CreationContext,
  checkedJson,
  correlationSeed,
  type Read,
  type RemoteDialect,
  type Report,
  unchecked,
  wrongSetting,
} from "../dialect.js";
import { dataUriOf, ofImage, type ReferenceFailure, referenceInput } from "../images/reference-input.js";
import { NEUTRAL_PROMPT } from "../leading-prompt.js";
import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import type { CheckFailure, OpenProvider, RemoteOptions } from "../remote-options.js";

/** Options of a worker of your own. Only `baseUrl` is required. */
export type HttpProviderOptions = RemoteOptions & {
  readonly baseUrl: string;
  /** The bearer token that the worker asks for, if it asks for one. */
  readonly token?: string | undefined;
};

/**
 * Opens a worker of your own, by the small HTTP contract that PROVIDERS.md describes. Calls nothing yet: `check` asks
 * it what it can make. It sends no webhooks. Throws if an option cannot be right.
 */
export const httpProvider = (options: HttpProviderOptions): OpenProvider =>
  openRemote(
    http({ baseUrl: baseUrlOf(options.baseUrl), token: headerSecret("token", options.token) }),
    options,
    undefined,
  );

const imageCount = z.number().int().min(0).max(IMAGE_URLS_MAX);
const abilitiesSchema = z.object({
  images_min: imageCount,
  images_max: imageCount,
  prompt_characters_max: z.number().int().min(1).default(PROMPT_CHARACTERS_MAX),
});
type Abilities = z.infer<typeof abilitiesSchema>;
/** A cause that this version does not know counts as none. */
const cause = z.enum(CUSTOMERS_CAUSES).optional().catch(undefined);
const generationSchema = z.object({
  id: nonEmpty,
  status: z.string(),
  image_url: z.string().nullish(),
  error: z.unknown().optional(),
  cause,
});

const errorSchema = z.object({ error: z.string() });
const refusalSchema = z.object({ cause });

type HttpSettings = {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** The worker's bearer token; `undefined` if it asks for none. */
  readonly token: string | undefined;
};

/**
 * A worker of the operator's own, by the small contract in test/examples/http-provider/openapi.json. A generation has
 * the id of our task, so a lost creation is looked up and never sent again.
 */
export const http = ({ baseUrl, token }: HttpSettings): RemoteDialect => {
  /** Until the worker has reported its abilities, it gets every request and refuses by itself. */
  let abilities: Abilities = abilitiesSchema.parse({ images_min: 0, images_max: IMAGE_URLS_MAX });
  return {
    name: "http",
    baseUrl,
    authorization: token === undefined ? {} : { authorization: `Bearer ${token}` },
    // One generation at a time, as with one graphics card.
    defaults: { callsPerSecond: 20, pauseSeconds: 10, concurrencyMax: 1 },

    abilities: () => ({
      imagesMin: abilities.images_min,
      imagesMax: abilities.images_max,
      promptCharactersMax: Math.min(abilities.prompt_characters_max, PROMPT_CHARACTERS_MAX),
    }),

    /** Checks the worker and sets `abilities` to its answer. */
    async check(read) {
      const told = await abilitiesOf(baseUrl, read);
      if (told.isOk()) abilities = told.value;
      return told.map(() => undefined);
    },

    creation: (order, context) => ({
      method: "PUT",
      path: pathOf(order.taskId),
      body: () => generationOf(order, context),
    }),

    causeOf: ({ body }) => refusalSchema.safeParse(body).data?.cause,

    upstreamTaskIdOf: (body) => createdIn(generationSchema.pick({ id: true }), "id", body).map(({ id }) => id),

    pollPath: pathOf,
    reportOf: (body) => reportOf(body, baseUrl),
    find,
  };
};

const abilitiesOf = async (baseUrl: string, read: Read): Promise<Result<Abilities, CheckFailure>> => {
  const answer = await read("/abilities");
  if (answer.isOk() && answer.value.status === 404) {
    return err(wrongSetting(`HTTP_PROVIDER_URL=${baseUrl}: GET /abilities is not there; set the URL of a worker`));
  }
  const json = checkedJson(answer, "HTTP_PROVIDER_TOKEN");
  if (json.isErr()) return err(json.error);
  return parseBody(abilitiesSchema, "a worker's capabilities", json.value).mapErr(({ reason }) => unchecked(reason));
};

const generationOf = async (
  { taskId, request }: GenerationOrder,
  { deadlineSeconds, storage }: CreationContext,
): Promise<Result<unknown, ReferenceFailure>> => {
  const { widthPixels: width, heightPixels: height } = RESOLUTIONS[request.resolution];
  const images = await Promise.all(
    request.imageUrls.map(async (url, index) => (await referenceInput(storage, url, dataUriOf)).mapErr(ofImage(index))),
  );
  return Result.combine(images).map((images) => ({
    prompt: request.prompt ?? NEUTRAL_PROMPT,
    images,
    width,
    height,
    seed: request.seed ?? correlationSeed(taskId),
    deadline_seconds: deadlineSeconds,
  }));
};

const reportOf = (body: unknown, baseUrl: string): Result<Report, ProviderUnavailable> =>
  parseBody(generationSchema, "a generation", body).map(({ status, image_url, error, cause }): Report => {
    switch (status) {
      case "succeeded":
        return image_url
          ? succeededWith(absolute(image_url, baseUrl))
          : { state: "failed", reason: "there is no result", cause: "unusable_result" };
      case "failed":
        return cause === undefined ? failedAs(status, error) : { ...failedAs(status, error), cause };
      case "running":
        return { state: "running" };
      default:
        return { state: "unknown", status };
    }
  });

const find = async (taskId: TaskId, read: Read): Promise<Result<string | undefined, ProviderUnavailable>> =>
  (await read(pathOf(taskId))).andThen(({ status, body }) =>
    // A 404 without the contract's error may come from a proxy, which knows nothing about the generation.
    status === 404
      ? parseBody(errorSchema, "an error of the worker", body).map(() => undefined)
      : parseBody(generationSchema, "a generation", body).map(({ id }) => id),
  );

const pathOf = (id: string): string => `/generations/${encodeURIComponent(id)}`;

/** A worker may not know its own address, so the URL of its result may be relative to its base URL. */
const absolute = (url: string, baseUrl: string): string =>
  URL.canParse(url, `${baseUrl}/`) ? new URL(url, `${baseUrl}/`).href : url;
