import type { Result } from "neverthrow";
import type { Account, Email } from "../../../domain/accounts/account.js";
import type { ApiKey, ApiKeyId } from "../../../domain/accounts/api-key.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import { credits } from "../../../domain/credits/credits.js";
import type { OrderCheckout, OrderId, PaidOrder, PendingOrder } from "../../../domain/credits/order.js";
import type { Reservation } from "../../../domain/credits/reservation.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { type ObjectName, panoramaName } from "../../../domain/images/object-name.js";
import type { PixelSize } from "../../../domain/images/resolution.js";
import { uploading } from "../../../domain/images/storage-status.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import { type CreationRequest, parseCreationRequest } from "../../../domain/tasks/creation-request.js";
import {
  type OpenedTask,
  type OpeningRefusal,
  type OpeningTerms,
  openTask,
  type TaskDraft,
} from "../../../domain/tasks/open-task.js";
import type { ProviderPlace } from "../../../domain/tasks/queue.js";
import type { Slug } from "../../../domain/tasks/slug.js";
import type {
  FailedTask,
  GeneratedTask,
  QueuedTask,
  SubmittedTask,
  SubmittingTask,
  SucceededTask,
  Task,
} from "../../../domain/tasks/task.js";
import { type Endpoint, type EndpointId, endpointSecret } from "../../../domain/webhooks/webhook-endpoint.js";

/** The start of every test, also the initial time of HandClock. */
export const noon = new Date("2026-01-01T12:00:00.000Z");

/** The time this many seconds later. */
export const secondsAfter = (start: Date, seconds: number): Date => new Date(start.getTime() + seconds * 1000);

/** The n-th id of its kind. It has the form of a real id, and ids sort by `n`. */
const nthUuid = (n: number): string => `019b0000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;

/** The n-th id of a task. */
export const taskId = (n: number): TaskId => nthUuid(n) as TaskId;
/** The n-th id of an account. */
export const accountId = (n: number): AccountId => nthUuid(n) as AccountId;
/** The n-th id of an order. */
export const orderId = (n: number): OrderId => nthUuid(n) as OrderId;
/** The n-th id of an endpoint. */
export const endpointId = (n: number): EndpointId => nthUuid(n) as EndpointId;
/** The n-th id of a key. */
export const apiKeyId = (n: number): ApiKeyId => nthUuid(n) as ApiKeyId;

/** 16 characters that are unique to this task. */
const slugOf = (id: TaskId): Slug => `slug${id.slice(-12)}` as Slug;

/** The n-th name of a stored image. */
export const anImageName = (n = 1): ObjectName => panoramaName(`unguessable-${n.toString().padStart(10, "0")}`);

/** An account; its address follows from its id. */
export const anAccount = (differences: Partial<Account> = {}): Account => {
  const id = differences.id ?? accountId(1);
  return { id, email: `owner-${id.slice(-12)}@example.com` as Email, createdAt: noon, ...differences };
};

/** An order of the first account that is not paid. */
export const aPendingOrder = (differences: Partial<PendingOrder> = {}): PendingOrder => ({
  id: orderId(1),
  accountId: accountId(1),
  credits: credits(100),
  createdAt: noon,
  state: "pending",
  ...differences,
});

/** The checkout of an order, for USD 9. */
export const anOrderCheckout = (differences: Partial<OrderCheckout> = {}): OrderCheckout => ({
  sessionId: "cs_test_1",
  token: "token-1",
  priceCents: 900,
  currency: "USD",
  ...differences,
});

/** A paid order of the first account. */
export const aPaidOrder = (differences: Partial<Omit<PaidOrder, "state">> = {}): PaidOrder => ({
  ...aPendingOrder(),
  state: "paid",
  paidAt: noon,
  ...differences,
});

/** A key of the first account, without limits. */
export const anApiKey = (differences: Partial<ApiKey> = {}): ApiKey => {
  const id = differences.id ?? apiKeyId(1);
  return {
    id,
    accountId: accountId(1),
    name: "default",
    secretSha256: id.slice(-12).padStart(64, "0"),
    createdAt: noon,
    revokedAt: undefined,
    limits: NO_LIMITS,
    lastUsedAt: undefined,
    prefix: "sk-AbCdEfGh",
    ...differences,
  };
};

/** The n-th secret, 32 bytes as base64. */
export const anEndpointSecret = (n = 1) => endpointSecret(Buffer.alloc(32, n).toString("base64"));

/** An endpoint of the first account that is on. */
export const anEndpoint = (differences: Partial<Endpoint> = {}): Endpoint => ({
  id: endpointId(1),
  accountId: accountId(1),
  url: "https://receiver.example.com/hook",
  secret: anEndpointSecret(),
  previous: undefined,
  createdAt: noon,
  failingSince: undefined,
  off: undefined,
  ...differences,
});

/** Takes the fields of the JSON body: `aCreationRequest({ image_urls: [...] })`. */
export const aCreationRequest = (body: Readonly<Record<string, unknown>> = {}): CreationRequest =>
  parseCreationRequest({ resolution: "1k", prompt: "a quiet lake at dawn", ...body })._unsafeUnwrap();

type Differences<T extends Task> = Partial<Omit<T, "state" | "reservation">>;

/** The reservation always matches the task, so builders do not take it as an argument. */
const reservationOf = <State extends Reservation["state"]>(
  task: Pick<Task, "id" | "accountId" | "request">,
  state: State,
) => ({ taskId: task.id, accountId: task.accountId, credits: PANORAMA_POLICY.prices[task.request.resolution], state });

const core = (differences: Differences<Task>) => {
  const id = differences.id ?? taskId(1);
  return {
    id,
    accountId: accountId(1),
    slug: slugOf(id),
    request: aCreationRequest(),
    apiKeyId: undefined,
    reservedAt: noon,
  };
};

/** A task of the first account that waits for a slot. */
export const aQueuedTask = (differences: Differences<QueuedTask> = {}): QueuedTask => {
  const task = { ...core(differences), turn: 1, submissions: 0, ...differences };
  return { ...task, state: "queued", reservation: reservationOf(task, "held") };
};

/** A task of the first account that is not submitted. */
export const aSubmittingTask = (differences: Differences<SubmittingTask> = {}): SubmittingTask => {
  const task = { ...core(differences), turn: undefined, submissions: 0, place: undefined, ...differences };
  return { ...task, state: "submitting", reservation: reservationOf(task, "held") };
};

/** A task of the first account that the provider works on. */
export const aSubmittedTask = (differences: Differences<SubmittedTask> = {}): SubmittedTask => {
  const task = {
    ...core(differences),
    submittedAt: secondsAfter(noon, 1),
    upstreamTaskId: "upstream-1",
    ...differences,
  };
  return { ...task, state: "submitted", reservation: reservationOf(task, "held") };
};

/** A task of the first account with a result that is not checked. */
export const aGeneratedTask = (differences: Differences<GeneratedTask> = {}): GeneratedTask => ({
  ...aSubmittedTask(differences),
  temporaryUrl: "https://provider.example.com/temporary/1.jpg",
  ...differences,
  state: "generated",
});

/** The size of a generated picture before it is resized. */
export const aNativeSize: PixelSize = { widthPixels: 1440, heightPixels: 720 };

/** A task of the first account with a picture that is not stored yet. */
export const aSucceededTask = (differences: Differences<SucceededTask> = {}): SucceededTask => {
  const { id, accountId, slug, request, apiKeyId, reservedAt, submittedAt, upstreamTaskId } =
    aSubmittedTask(differences);
  const task = {
    id,
    accountId,
    slug,
    request,
    apiKeyId,
    reservedAt,
    submittedAt,
    upstreamTaskId,
    succeededAt: secondsAfter(noon, 30),
    image: uploading("https://provider.example.com/temporary/1.jpg", anImageName()),
    nativeSize: aNativeSize,
    ...differences,
  };
  return { ...task, state: "succeeded", reservation: reservationOf(task, "captured") };
};

/** A failed task of the first account. */
export const aFailedTask = (differences: Differences<FailedTask> = {}): FailedTask => {
  const task = {
    ...core(differences),
    failedAt: secondsAfter(noon, 30),
    reason: "generation_failed" as const,
    ...differences,
  };
  return { ...task, state: "failed", reservation: reservationOf(task, "refunded") };
};

/** A place of a provider that can make every request. */
export const aPlace = (concurrencyMax: number | undefined, name = "only"): ProviderPlace => ({
  name,
  concurrencyMax,
  canMake: () => true,
});

/** The places of a provider without servers. */
export const limitedTo = (concurrencyMax: number | undefined): readonly ProviderPlace[] => [aPlace(concurrencyMax)];

/** Opens a task by the prices and limits of the specification. */
export const openATask = (
  standing: Standing,
  draft: TaskDraft,
  now: Date,
  terms: Partial<OpeningTerms> = {},
): Result<OpenedTask, OpeningRefusal> => openTask(standing, draft, { policy: PANORAMA_POLICY, now, ...terms });
