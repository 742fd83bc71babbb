import { createHash } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type {
  GenerationOrder,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import type { TaskId } from "../../../../domain/ids.js";
import { IMAGE_URLS_MAX } from "../../../../domain/tasks/abilities.js";
import { unavailable } from "../../sound-reference.js";
import { bodyIn, createdIn, failedAs, nonEmpty, parseBody, succeededWith } from "../answers/read-answer.js";
import type { Answer } from "../calls/upstream-call.js";
import {
  type CreationContext,
  checkedJson,
  correlationSeed,
  type ProviderAccess,
  type Read,
  type RemoteDialect,
  type Report,
  unchecked,
} from "../dialect.js";
import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { type CheckFailure, type OpenProvider, REMOTE_DEFAULTS, type RemoteOptions } from "../remote-options.js";
import { worldPrompt } from "./world-prompt.js";

/** Options of World Labs Marble. Only `apiKey` is required. */
export type WorldlabsOptions = RemoteOptions & {
  readonly apiKey: string;
  /** By default `marble-1.0-draft`, the cheapest and quickest one. */
  readonly model?: "marble-1.0-draft" | "marble-1.0" | "marble-1.1" | "marble-1.1-plus" | undefined;
  /** By default `https://api.worldlabs.ai`. */
  readonly baseUrl?: string | undefined;
};

/**
 * Opens World Labs Marble, which makes worlds and a panorama of each, from a prompt and up to three reference images.
 * Calls nothing yet: `check` verifies the key. It sends no webhooks. Throws if an option cannot be right.
 */
export const worldlabsProvider = (options: WorldlabsOptions): OpenProvider => {
  const { worldlabs: defaults } = REMOTE_DEFAULTS;
  const { model = defaults.model, baseUrl = defaults.baseUrl } = options;
  const apiKey = headerSecret("apiKey", options.apiKey);
  return openRemote(worldlabs({ apiKey, baseUrl: baseUrlOf(baseUrl), model }), options, undefined);
};

export const WORLDLABS_MODELS = ["marble-1.0-draft", "marble-1.0", "marble-1.1", "marble-1.1-plus"] as const;
export type WorldlabsModel = (typeof WORLDLABS_MODELS)[number];

const ROOT = "/marble/v1";
/** By the provider's prompt guidelines. Its schema has no limit. */
const PROMPT_CHARACTERS_MAX = 2000;
const TAG_CHARACTERS_MAX = 32;

const creditsSchema = z.object({ remaining_credits: z.number() });
const createdSchema = z.object({ operation_id: nonEmpty });
const worldSchema = z.object({
  world_id: nonEmpty,
  assets: z.object({ imagery: z.object({ pano_url: z.string().nullish() }).nullish() }).nullish(),
});
type World = z.infer<typeof worldSchema>;
/** The provider's documents have both forms. */
const readWorldSchema = z.union([z.object({ world: worldSchema }).transform(({ world }) => world), worldSchema]);
const operationSchema = z.object({
  done: z.boolean(),
  error: z.looseObject({}).nullish(),
  metadata: z.object({ world_id: nonEmpty.nullish() }).nullish().catch(undefined),
  response: worldSchema.nullish(),
});
const listSchema = z.object({
  worlds: z.array(z.object({ world_id: nonEmpty, tags: z.array(z.string()).nullish() })),
  next_page_token: z.string().nullish(),
});
const validationSchema = z.object({
  detail: z.array(z.object({ loc: z.array(z.union([z.string(), z.number()])), type: z.string() })),
});

type WorldlabsSettings = ProviderAccess & { readonly model: WorldlabsModel };

/**
 * World Labs Marble: builds a world, whose first step is a panorama, from a prompt and up to three reference images
 * with a direction each. Our tag identifies a world, so the customer's seed is sent.
 *
 * An upstream task id is `operations/ID`, or `worlds/ID` if a lost creation was found again: a world does not name its
 * operation. There is no call that cancels.
 */
export const worldlabs = ({ apiKey, baseUrl, model }: WorldlabsSettings): RemoteDialect => ({
  name: "worldlabs",
  model,
  baseUrl,
  authorization: { "wlt-api-key": apiKey },
  // A new account may start about 3 worlds a minute and 60 an hour. Two drafts at a time, of 30 to 45 seconds each, are
  // about 3 a minute, and after 20 seconds one more is free. The limit of other calls is not documented.
  defaults: { callsPerSecond: 10, pauseSeconds: 20, concurrencyMax: 2 },

  abilities: () => ({ imagesMin: 0, imagesMax: IMAGE_URLS_MAX, promptCharactersMax: PROMPT_CHARACTERS_MAX }),
  check,

  creation: (order, context) => ({ path: `${ROOT}/worlds:generate`, body: () => inputOf(model, order, context) }),

  // No `causeOf`: 400 stands for an invalid request, refused content and a picture that cannot be fetched alike.
  misunderstood: problemOf,

  upstreamTaskIdOf: (body) =>
    createdIn(createdSchema, "operation id", body).map((id) => `operations/${encodeURIComponent(id.operation_id)}`),

  pollPath,
  reportOf: (body, upstreamTaskId) =>
    isWorld(upstreamTaskId)
      ? parseBody(readWorldSchema, "a world", body).map(reportOfWorld)
      : parseBody(operationSchema, "an operation", body).map(reportOfOperation),

  discardPath,
  find,
});

const check = async (read: Read): Promise<Result<void, CheckFailure>> =>
  checkedJson(await read(`${ROOT}/credits`), "WORLDLABS_API_KEY").andThen((body) =>
    parseBody(creditsSchema, "the credits of an account", body)
      .map(() => undefined)
      .mapErr(({ reason }) => unchecked(reason)),
  );

const inputOf = async (
  model: WorldlabsModel,
  { taskId, request }: GenerationOrder,
  { storage }: CreationContext,
): Promise<Result<unknown, string | SubmissionFailure>> =>
  (await worldPrompt(request, storage)).map((prompt) => ({
    // At most 64 characters, as a task id.
    display_name: taskId,
    model,
    seed: request.seed ?? correlationSeed(taskId),
    tags: [tagOf(taskId)],
    permission: { public: false },
    world_prompt: prompt,
  }));

/** A tag is shorter than a task id. */
const tagOf = (taskId: TaskId): string =>
  createHash("sha256").update(taskId).digest("hex").slice(0, TAG_CHARACTERS_MAX);

/** The provider has checked the request against its schema. The texts may repeat the prompt, so they are not shown. */
const problemOf = ({ status, body }: Answer): string | undefined => {
  if (status !== 422) return undefined;
  const details = validationSchema.safeParse(body).data?.detail ?? [];
  const where = details.map(({ loc, type }) => [loc.join("."), type].filter((part) => /^[\w.-]{1,80}$/.test(part)));
  const shown = where.map((parts) => parts.join(" ")).filter((text) => text !== "");
  return `it does not understand the creation${shown.length === 0 ? "" : ` (${shown.join(", ")})`}`;
};

const isWorld = (upstreamTaskId: string): boolean => upstreamTaskId.startsWith("worlds/");

const pollPath = (upstreamTaskId: string): string => `${ROOT}/${upstreamTaskId}`;

const worldIdOf = (id: string): string => `worlds/${encodeURIComponent(id)}`;

const panoramaOf = ({ assets }: World): string | undefined => assets?.imagery?.pano_url || undefined;

const reportOfOperation = ({ done, error, response }: z.infer<typeof operationSchema>): Report => {
  if (!done) return { state: "running" };
  if (error) return failedAs("failed", error);
  const url = response && panoramaOf(response);
  return url ? succeededWith(url) : { state: "failed", reason: "the world has no panorama" };
};

/**
 * A world says neither whether it is still being built nor why it has failed. Without a panorama it counts as running,
 * so one that has failed is refunded at the deadline of the generation.
 */
const reportOfWorld = (world: World): Report => {
  const url = panoramaOf(world);
  return url === undefined ? { state: "running" } : succeededWith(url);
};

/** An operation expires; it is not documented when. Afterwards its world is not known any more. */
const discardPath = async (
  upstreamTaskId: string,
  read: Read,
): Promise<Result<string | undefined, ProviderUnavailable>> => {
  if (isWorld(upstreamTaskId)) return ok(pollPath(upstreamTaskId));
  const answer = await read(pollPath(upstreamTaskId));
  if (answer.isOk() && answer.value.status === 404) return ok(undefined);
  const operation = bodyIn(answer, operationSchema, "an operation");
  return operation.map(({ response, metadata }) => {
    const id = response?.world_id ?? metadata?.world_id;
    return id ? pollPath(worldIdOf(id)) : undefined;
  });
};

/**
 * The list can be filtered by status, so it has worlds that are still being built. It is not documented how soon it has
 * a new one: a creation is sent again only after its submission deadline, about a minute later, and only if nothing at
 * all is listed for its tag.
 */
const find = async (taskId: TaskId, read: Read): Promise<Result<string | undefined, ProviderUnavailable>> => {
  const tag = tagOf(taskId);
  const listed = bodyIn(
    await read(`${ROOT}/worlds:list`, { tags: [tag], page_size: 100 }),
    listSchema,
    "a list of worlds",
  );
  return listed.andThen(({ worlds, next_page_token }) => {
    const world = worlds.find(({ tags }) => tags?.includes(tag));
    if (world !== undefined) return ok(worldIdOf(world.world_id));
    const isComplete = worlds.length === 0 && !next_page_token;
    return isComplete ? ok(undefined) : err(unavailable("the list has worlds without the tag that was asked for"));
  });
};
