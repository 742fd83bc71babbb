import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { canonicalText } from "../../domain/canonical-text.js";
import type { CreationRequest } from "../../domain/creation-request.js";
import type { IdempotencyKey } from "../../domain/idempotency.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import { isRecordedReference, type ObjectName } from "../../domain/object-name.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { type QueuePlace, shortestWaitMilliseconds, slotsOf } from "../../domain/queue.js";
import { type OpeningRefusal, openTask, type Task } from "../../domain/task.js";
import type { ApplicationSettings } from "../application-settings.js";
import type { NotFound } from "../errors.js";
import type { AdmittedKey } from "../ports/api-requests.js";
import { type GenerationProvider, takesCreations } from "../ports/generation-provider.js";
import type { Ids } from "../ports/ids.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import type { Secrets } from "../ports/secrets.js";
import { StoreBusy } from "../ports/store-busy.js";
import type { TaskStore } from "../ports/task-store.js";
import type { GenerationTime } from "./generation-time.js";
import { type SubmissionPorts, type SubmissionSettings, submitTask, type UpstreamError } from "./submit-task.js";

/** `not_found`: the idempotency key belongs to a panorama that was deleted. */
export type CreatePanoramaError = InvalidRequest | OpeningRefusal | UpstreamError | NotFound;

/** What else may come with a creation. */
export type CreationOptions = {
  /** The API key of the request. Its budgets limit the creation. */
  readonly apiKey?: AdmittedKey | undefined;
  /** The most that the panorama may cost, otherwise it is refused; a part of the idempotent request. */
  readonly maxCredits?: number | undefined;
  /** The W3C trace context of the request. */
  readonly traceparent?: string | undefined;
};

/** `replayed`: the idempotency key belongs to this existing task; this call started and charged nothing. */
export type CreatedPanorama = { readonly task: Task; readonly replayed: boolean };

type Ports = SubmissionPorts & {
  readonly tasks: Pick<TaskStore, "open">;
  readonly provider: Pick<GenerationProvider, "canMake" | "callsPerSecond" | "places">;
  readonly generationTime: Pick<GenerationTime, "lately">;
  readonly ids: Pick<Ids, "taskId" | "slug">;
  readonly secrets: Pick<Secrets, "sha256">;
  readonly storage: Pick<ObjectStorage, "nameOf">;
  /** Called before a task with a `webhook_url` is opened (webhooks/ensure-default-endpoint.ts). Absent: sends no webhooks. */
  readonly ensureDefaultEndpoint?: (account: AccountId) => Promise<unknown>;
};

/** Limits of a creation and of the queue. */
export type CreationSettings = SubmissionSettings &
  Pick<ApplicationSettings, "policy"> & {
    /** The sweep resolves a task that has no recorded answer of the provider after this time. */
    readonly submissionDeadlineMilliseconds: number;
    /** Maximum number of tasks that wait in the queue; further creations are refused. */
    readonly queueMax: number;
  };

/** What `createPanorama` returns. */
export type CreatePanorama = ReturnType<typeof createPanorama>;

/**
 * `POST /panoramas`: reserves the credits, then submits the task to the provider. If the provider has no free slot or no
 * room now, the task is queued (start-queued-tasks.ts). A refused creation costs nothing. While the provider is down,
 * every creation is refused immediately; so is one that would wait for too long.
 */
export const createPanorama =
  (ports: Ports, settings: CreationSettings) =>
  async (
    owner: AccountId,
    request: CreationRequest,
    idempotencyKey?: IdempotencyKey,
    { apiKey, maxCredits, traceparent }: CreationOptions = {},
  ): Promise<Result<CreatedPanorama, CreatePanoramaError>> => {
    const { tasks, provider, generationTime, clock, ids, secrets, storage, reporter } = ports;
    const { submissionDeadlineMilliseconds, queueDeadlineMilliseconds, queueMax, policy = PANORAMA_POLICY } = settings;
    const cost = policy.prices[request.resolution];
    const possible = provider.canMake(request);
    if (possible.isErr()) return err(possible.error);
    const idempotent = idempotencyKey && {
      key: idempotencyKey,
      requestSha256: secrets.sha256(canonicalText(request, maxCredits)),
    };
    const now = clock.now();
    const after = (milliseconds: number) => new Date(now.getTime() + milliseconds);
    const draft = { id: ids.taskId(), slug: ids.slug(), request, apiKeyId: apiKey?.id, traceparent };
    const budgets = apiKey?.budgets;
    const { callsPerSecond } = provider;
    const all = provider.places();
    const possiblePlaces = all.filter((place) => place.canMake(request));
    const isDown = possiblePlaces.every(({ readiness }) => readiness === "down");
    const submissionDeadline = after(submissionDeadlineMilliseconds);
    const waitsTooLong = ({ ahead, waiting }: QueuePlace): boolean => {
      const pace = { concurrencyMax: slotsOf(all), callsPerSecond, generationMilliseconds: generationTime.lately() };
      return waiting >= queueMax || shortestWaitMilliseconds(ahead, pace) > queueDeadlineMilliseconds;
    };
    if (request.webhookUrl !== undefined) await ports.ensureDefaultEndpoint?.(owner);

    const opened = await tasks.open<CreatePanoramaError>({
      account: owner,
      dueAt: submissionDeadline,
      idempotent,
      decide: (standing, queuePlace, spending, place) => {
        if (maxCredits !== undefined && cost > maxCredits) {
          return err(invalidRequest("max_credits", { name: "cost_max", max: maxCredits, cost }));
        }
        if (budgets !== undefined && spending === undefined) throw new Error("Bug: the store passes no spending");
        // Stryker disable next-line LogicalOperator: spending is there if there are budgets, and only then
        const budget = budgets && spending && { budgets, spending };
        const opening = openTask(standing, draft, now, queuePlace?.turn, budget, place, policy);
        const hopeless = isDown || (queuePlace !== undefined && waitsTooLong(queuePlace));
        return opening.isOk() && hopeless ? err({ kind: "upstream_error" }) : opening;
      },
      queue: { places: possiblePlaces.filter(takesCreations), dueAt: after(queueDeadlineMilliseconds) },
      references: request.imageUrls.length === 0 ? undefined : recordedReferences(storage, request.imageUrls),
      spender: apiKey && budgets && { apiKeyId: apiKey.id, now },
      snapshot: apiKey?.account,
    });
    if (opened.isErr()) return err(opened.error);
    const { task, replayed } = opened.value;
    if (replayed) return ok({ task, replayed });
    if (task.state !== "reserved") {
      reporter.report({ kind: "task_queued", taskId: task.id });
      return ok({ task, replayed });
    }
    // The credits are reserved now, so that a busy store is an unexpected error and no refusal.
    const submission = await submitTask(ports, settings, task, submissionDeadline).catch((error: unknown) => {
      throw error instanceof StoreBusy
        ? new Error(`the task ${task.id} is charged, but: ${error.message}`, { cause: error })
        : error;
    });
    return submission.map((submitted) => ({ task: submitted, replayed }));
  };

/** The reference images of this service among the URLs, by the index of their URL. */
const recordedReferences = (
  storage: Pick<ObjectStorage, "nameOf">,
  imageUrls: readonly string[],
): ReadonlyMap<number, ObjectName> =>
  new Map(
    imageUrls.flatMap((url, index): [number, ObjectName][] => {
      const name = storage.nameOf(url);
      // Stryker disable next-line ConditionalExpression: no name is no recorded reference either
      return name !== undefined && isRecordedReference(name) ? [[index, name]] : [];
    }),
  );
