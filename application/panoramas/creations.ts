import { err, ok, type Result } from "neverthrow";
import type { Budgets, Spending } from "../../domain/credits/budget.js";
import type { IdempotencyKey } from "../../domain/credits/idempotency.js";
import type { AccountId } from "../../domain/ids.js";
import { isReference } from "../../domain/images/object-name.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import { canonicalText } from "../../domain/tasks/canonical-text.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import { type BudgetState, type OpeningRefusal, openTask } from "../../domain/tasks/open-task.js";
import { type QueuePosition, shortestWaitMilliseconds, slotsOf } from "../../domain/tasks/queue.js";
import type { SubmittingTask, SucceededTask, Task } from "../../domain/tasks/task.js";
import type { CompleteSettings } from "../application-settings.js";
import { acceptsCreations } from "../ports/generation-provider.js";
import type { Ids } from "../ports/ids.js";
import type { Secrets } from "../ports/secrets.js";
import type { AccessRefused, AdmittedBy } from "../ports/stores/access.js";
import type { AdmittedKey } from "../ports/stores/rate-limits.js";
import { StoreBusy } from "../ports/stores/store-errors.js";
import type { TaskOpening } from "../ports/stores/tasks/task-store.js";
import type { GenerationTime } from "./generation-time.js";
import { type ImageUrls, type PanoramaSources, readImageUrls, sourceOf } from "./read-image-urls.js";
import { type SubmissionPorts, type SubmissionSettings, submitTask, type UpstreamError } from "./submit-task.js";

/** Reasons why a creation is refused. Nothing is charged. */
export type CreatePanoramaError = InvalidRequest | OpeningRefusal | AccessRefused | UpstreamError;

/** Optional parts of a creation. */
export type CreationOptions = {
  /** The API key of the request. Its budgets limit the creation. */
  readonly apiKey?: AdmittedKey | undefined;
  /** The key or the session of the request, which must not have ended when the task is stored. */
  readonly admittedBy?: AdmittedBy | undefined;
  /**
   * Maximum cost: a higher price is refused. A repeat must send the same value. Checked after the idempotency lookup,
   * so a repeat returns its task even after a price increase.
   */
  readonly maxCredits?: number | undefined;
  /** The W3C trace context of the request. */
  readonly traceparent?: string | undefined;
};

type Creation = {
  readonly owner: AccountId;
  readonly request: CreationRequest;
  readonly idempotencyKey: IdempotencyKey | undefined;
};

/** `replayed`: true for the task of an earlier call with the same idempotency key. Nothing was started or charged. */
export type CreatedPanorama = { readonly task: Task; readonly replayed: boolean };

type CreationPorts = SubmissionPorts &
  PanoramaSources & {
    readonly generationTime: Pick<GenerationTime, "lately">;
    readonly ids: Pick<Ids, "taskId" | "slug">;
    readonly secrets: Pick<Secrets, "sha256">;
    /**
     * Creates the account's default endpoint, before a task with a `webhook_url` is opened (webhooks/webhooks.ts).
     * Absent if the installation sends no webhooks.
     */
    readonly ensureDefaultEndpoint?: (account: AccountId) => Promise<unknown>;
  };

/** Limits of a creation and of the queue. */
export type CreationSettings = SubmissionSettings &
  Pick<CompleteSettings, "policy"> & {
    /** Time after which the recovery resolves a task that is still `submitting`. */
    readonly submissionDeadlineMilliseconds: number;
    /** Maximum number of tasks that wait in the queue; further creations are refused. */
    readonly queueMax: number;
  };

/** Creations of panoramas. */
export function creations(ports: CreationPorts, settings: CreationSettings) {
  return {
    /**
     * `POST /panoramas`: reserves the credits, then submits the task to the provider. Queues the task if no place has a
     * free slot (start-queued-tasks.ts). A refused creation costs nothing. Refuses at once if all places that can make
     * the panorama are down, the queue is full, or the wait would exceed the queue deadline.
     */
    async create(
      owner: AccountId,
      request: CreationRequest,
      idempotencyKey?: IdempotencyKey,
      options: CreationOptions = {},
    ): Promise<Result<CreatedPanorama, CreatePanoramaError>> {
      const supported = ports.provider.checkRequest(request);
      if (supported.isErr()) return err(supported.error);
      const opening = newOpening(ports, settings, { owner, request, idempotencyKey, ...options });
      const images = request.imageUrls.length === 0 ? undefined : await readImageUrls(ports, owner, request.imageUrls);
      if (request.webhookUrl !== undefined) await ports.ensureDefaultEndpoint?.(owner);

      const opened = await ports.tasks.open(withImages(opening, images));
      if (opened.isErr()) return err(opened.error);
      const { task, replayed } = opened.value;
      if (replayed) return ok({ task, replayed });
      if (task.state !== "submitting") {
        ports.reporter.report({ kind: "task_queued", taskId: task.id });
        return ok({ task, replayed });
      }
      const submission = await submitReserved(ports, settings, task, opening.dueAt);
      return submission.map((submitted) => ({ task: submitted, replayed }));
    },

    /** The panorama that a task was made from, if the visitor may open it: its owner, or anybody if it is public. */
    async findSource({ request }: Task, visitor: AccountId | undefined): Promise<SucceededTask | undefined> {
      const names = request.imageUrls.map((url) => ports.storage.nameOf(url));
      const image = names.find((name) => name !== undefined && !isReference(name));
      return image && sourceOf(ports, visitor, image);
    },
  };
}

/** Builds the input of `tasks.open`. The store then reads the account, calls `decide` and writes the task. */
function newOpening(
  { provider, generationTime, clock, ids, secrets }: CreationPorts,
  { submissionDeadlineMilliseconds, queueDeadlineMilliseconds, queueMax, policy }: CreationSettings,
  { owner, request, idempotencyKey, apiKey, admittedBy, maxCredits, traceparent }: Creation & CreationOptions,
): TaskOpening<CreatePanoramaError> {
  const now = clock.now();
  const nowPlus = (milliseconds: number) => new Date(now.getTime() + milliseconds);
  const allPlaces = provider.places();
  const places = allPlaces.filter((place) => place.canMake(request));
  const draft = { id: ids.taskId(), slug: ids.slug(), request, apiKeyId: apiKey?.id, traceparent };
  const isDown = places.every(({ readiness }) => readiness === "down");
  const cannotQueue = ({ ahead, waiting }: QueuePosition): boolean => {
    const { callsPerSecond } = provider;
    const concurrencyMax = slotsOf(allPlaces);
    const pace = { concurrencyMax, callsPerSecond, generationMilliseconds: generationTime.lately() };
    return waiting >= queueMax || shortestWaitMilliseconds(ahead, pace) > queueDeadlineMilliseconds;
  };
  return {
    account: owner,
    access: admittedBy && { ...admittedBy, now },
    dueAt: nowPlus(submissionDeadlineMilliseconds),
    idempotent: idempotencyKey && {
      key: idempotencyKey,
      request: secrets.sha256(canonicalText(request, maxCredits)),
    },
    queue: { places: places.filter(acceptsCreations), dueAt: nowPlus(queueDeadlineMilliseconds) },
    spender: apiKey?.budgets && { apiKeyId: apiKey.id, now },
    snapshot: apiKey?.account,
    decide: (standing, queuePosition, spending, place) => {
      const cost = policy.prices[request.resolution];
      if (maxCredits !== undefined && cost > maxCredits) {
        return err(invalidRequest("max_credits", { name: "cost_max", max: maxCredits, cost }));
      }
      const budget = budgetOf(apiKey?.budgets, spending);
      const opened = openTask(standing, draft, { policy, now, turn: queuePosition?.turn, place, budget });
      const isUnavailable = isDown || (queuePosition !== undefined && cannotQueue(queuePosition));
      // A reason in the account is reported before an unavailable provider or a full queue.
      return opened.isOk() && isUnavailable ? err({ kind: "upstream_error" }) : opened;
    },
  };
}

/** Adds the images. `decide` refuses wrong ones after the idempotency lookup, so that a repeat still gets its task. */
function withImages(
  opening: TaskOpening<CreatePanoramaError>,
  images: ImageUrls | undefined,
): TaskOpening<CreatePanoramaError> {
  if (images === undefined) return opening;
  const { recorded: references, refusal } = images;
  return refusal === undefined ? { ...opening, references } : { ...opening, references, decide: () => err(refusal) };
}

/**
 * Budgets and spending of the key. Throws if the store did not pass the spending, because the budgets would count as
 * unused.
 */
function budgetOf(budgets: Budgets | undefined, spending: Spending | undefined): BudgetState | undefined {
  if (budgets === undefined) return undefined;
  if (spending === undefined) throw new Error("Bug: the store passes no spending");
  return { budgets, spending };
}

/**
 * Submits the task, whose credits are reserved. If the store is busy, returns the task as `submitting`; the recovery
 * resolves this task after the deadline.
 */
function submitReserved(
  ports: CreationPorts,
  settings: CreationSettings,
  task: SubmittingTask,
  submissionDeadline: Date,
): Promise<Result<Task, UpstreamError>> {
  return submitTask(ports, settings, task, submissionDeadline).catch((error: unknown) => {
    if (!(error instanceof StoreBusy)) throw error;
    ports.reporter.report({ kind: "work_failed", work: "creation", taskId: task.id, error });
    return ok(task);
  });
}
