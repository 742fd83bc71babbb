import { createHash } from "node:crypto";
import { err, type Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import type {
  Cancellation,
  CustomersCause,
  GenerationOrder,
  Progress,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../application/ports/generation-provider.js";
import type { TaskId } from "../../../domain/ids.js";
import type { Abilities } from "../../../domain/tasks/abilities.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { isKeyRejected, jsonOf } from "./answers/read-answer.js";
import type { Answer, Form } from "./calls/upstream-call.js";
import type { UpstreamHttp } from "./calls/upstream-http.js";
import type { ReferenceSources } from "./images/reference-input.js";
import type { GivenAs } from "./leading-prompt.js";
import type { CheckFailure } from "./remote-options.js";
import type { VerifySignature } from "./webhooks/webhook-urls.js";

/** The settings that every dialect needs; each adds its own. */
export type ProviderAccess = {
  readonly apiKey: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
};

/** Everything that differs from provider to provider. `RemoteProvider` does the rest. */
export type RemoteDialect = {
  /** Name of the provider. */
  readonly name: string;
  /** The model or preset, if there are several; `name:model` is the name of its place. Without colons. */
  readonly model?: string | undefined;
  readonly baseUrl: string;
  /** Base URL for `check` and `listSince`, if not `baseUrl`: another host with its own outages and rate limit. */
  readonly listBaseUrl?: string;
  /** The header that carries the API key. */
  readonly authorization: Readonly<Record<string, string>>;
  /** Headers for results on the provider's own host; absent if they are read without the API key. */
  readonly resultHeaders?: Readonly<Record<string, string>>;
  readonly defaults: ProviderDefaults;
  /** The limits of the model. May change with `check`. Default: everything that the specification allows. */
  abilities?(): Abilities;
  /** Checks API key and settings when the service starts. Absent if no call of the provider can verify them. */
  check?(read: Read): Promise<Result<void, CheckFailure>>;
  creation(order: GenerationOrder, context: CreationContext): CreationCall;
  /**
   * Why a creation was answered with this 4xx, if the customer can change it. Absent if the provider's answers do not
   * tell.
   */
  causeOf?(refusal: Answer): CustomersCause | undefined;
  /** True if a creation with this 4xx may have started a generation. Absent if none may. */
  mayHaveStarted?(refusal: Answer): boolean;
  /**
   * Why the provider cannot make what a creation with this 4xx has asked for, whoever asks: the operator is warned.
   * Completes a sentence. Absent if the provider's answers do not tell.
   */
  misunderstood?(refusal: Answer): string | undefined;
  /** The upstream task id in the body of a 2xx answer to a creation. */
  upstreamTaskIdOf(body: unknown): Result<string, SubmissionFailure>;
  pollPath(upstreamTaskId: string): string;
  /** Reads the body of a 2xx answer to a poll; calls `read` if more is needed. */
  reportOf(
    body: unknown,
    upstreamTaskId: string,
    read: Read,
  ): Result<Report, ProviderUnavailable> | Promise<Result<Report, ProviderUnavailable>>;
  /**
   * As `GenerationProvider.cancel`, which explains when a generation may be stopped. Absent if the provider has no call
   * for it.
   */
  cancel?(upstreamTaskId: string, calls: CancelCalls): Promise<Result<Cancellation, ProviderUnavailable>>;
  /**
   * The path that deletes a finished task with its image; `undefined` if the provider does not know the task. Calls
   * `read` if more is needed. Absent if the provider has no such call.
   */
  discardPath?(upstreamTaskId: string, read: Read): Promise<Result<string | undefined, ProviderUnavailable>>;
  /**
   * Looks a task up where the provider takes our own task id; `undefined` if it does not know the task. `read` repeats
   * what fails, and its answers are JSON or 404.
   */
  find?(taskId: TaskId, read: Read): Promise<Result<string | undefined, ProviderUnavailable>>;
  /**
   * For a provider without `find`: the tasks that were submitted after `since`. Absent, or `undefined`, if the provider
   * cannot list its tasks either: then a lost submission cannot be found again.
   */
  listSince?(since: Date): TaskPages | undefined;
  /** Absent if the provider does not document a signature: then only the URL proves that a webhook is genuine. */
  signatureOf?(http: UpstreamHttp, clock: Clock): VerifySignature;
};

/** Per-provider defaults, for what the operator has not set. */
export type ProviderDefaults = {
  readonly callsPerSecond: number;
  /** Seconds to pause after a 429 without `Retry-After`. */
  readonly pauseSeconds: number;
  /** Generations that the provider runs at the same time; `undefined` means no limit. */
  readonly concurrencyMax: number | undefined;
};

/**
 * Reads a path below the base URL. With a `query` it is a POST with that JSON, which must change nothing: it may be
 * repeated. An answer with any status is `ok`.
 */
export type Read = (path: string, query?: object) => Promise<Result<Answer, ProviderUnavailable>>;

export type CancelCalls = {
  readonly read: Read;
  /**
   * Reads the state of the generation, and again for some seconds while it `mayStillStop`: providers confirm a
   * cancellation before it has an effect. Resolves to the last state; a cancellation not confirmed by then is too late.
   */
  confirm<T>(
    read: () => Promise<Result<T, ProviderUnavailable>>,
    mayStillStop: (state: T) => boolean,
  ): Promise<Result<T, ProviderUnavailable>>;
  /** Sends a call that changes something, once. An answer with any status is `ok`. */
  change(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<Result<Answer, ProviderUnavailable>>;
};

export type CreationContext = ReferenceSources & {
  /** URL for webhooks about this task. `undefined` if the provider cannot reach this service. */
  readonly webhookUrl: string | undefined;
  /** The service gives up the generation after this time; the provider should cancel it then and not bill it. */
  readonly deadlineSeconds: number;
  /**
   * The request's prompt with instructions for a model that was not trained on panoramas. Its reference images are
   * given as they are if `givenAs` is absent.
   */
  readonly promptFor: (request: CreationRequest, givenAs?: GivenAs) => string;
  readonly read: Read;
  /** Reads where `check` reads. */
  readonly readList: Read;
  /** Sends a reference image that the creation needs, and returns the JSON of the answer. It starts nothing. */
  upload(path: string, form: Form): Promise<Result<unknown, SubmissionFailure>>;
};

export type CreationCall = {
  /** `POST` if absent. */
  readonly method?: "POST" | "PUT";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The error is the whole failure, or a reason for the log: then the provider cannot be used now. */
  body(): Promise<Result<unknown, string | SubmissionFailure>>;
};

export type Report =
  | Progress
  /** The provider does not understand what the adapter has sent. Fails the task and warns the operator. */
  | { readonly state: "misunderstood"; readonly reason: string }
  /** May have come too early: counts as `duringGracePeriod` first, and as failed with `reason` afterwards. */
  | {
      readonly state: "uncertain";
      readonly reason: string;
      readonly duringGracePeriod: "running" | ProviderUnavailable;
    }
  /** A status that the provider does not document. */
  | { readonly state: "unknown"; readonly status: string };

/** The provider's list of tasks, newest first. */
export type TaskPages = {
  readonly firstPath: string;
  /** `page` counts from 0; `nextUrl` is `undefined` after the last page. */
  pageOf(body: unknown, page: number): Result<TaskPage, ProviderUnavailable>;
};

type TaskPage = {
  readonly tasks: readonly { readonly id: string; readonly seed: unknown }[];
  readonly nextUrl: string | undefined;
  /** True if a task that is on no page does not exist. */
  readonly allSeedsKnown: boolean;
};

/**
 * Identifies our task where a provider stores no metadata: a seed for its random numbers, 1 to 2^31 - 1, derived from
 * the task id. The provider's list of tasks contains it. There it takes the place of the customer's seed, because two
 * tasks of the same seed could not be told apart.
 */
export const correlationSeed = (taskId: TaskId): number =>
  createHash("sha256").update(taskId).digest().readUInt32BE(0) & 0x7fffffff || 1;

/** A UUID (version 8) that is derived from the text: for providers that take an id of ours only as a UUID. */
export const uuidOf = (text: string): string => {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

/** The part of a URL after the base URL; `undefined` for any other URL: the API key must not be sent there. */
export const pathBelow = (baseUrl: string, url: string): string | undefined =>
  url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : undefined;

/** The JSON of a 2xx answer to a call with the API key from the variable `keyVariable`. */
export const checkedJson = (
  answer: Result<Answer, ProviderUnavailable>,
  keyVariable: string,
): Result<unknown, CheckFailure> => {
  if (answer.isOk() && isKeyRejected(answer.value)) {
    const { status } = answer.value;
    return err(
      wrongSetting(`${keyVariable}: the provider does not accept this key (status ${status}); set a valid one`),
    );
  }
  return answer.andThen(jsonOf).mapErr(({ reason }) => unchecked(reason));
};

export const wrongSetting = (reason: string): CheckFailure => ({ kind: "misconfigured", reason });
export const unchecked = (reason: string): CheckFailure => ({ kind: "unchecked", reason });
