import { err, ok, type Result, safeTry } from "neverthrow";
import { notFound } from "../../application/errors.js";
import { failedParam, failureMessage } from "../../application/events/failure-sentence.js";
import type { TaskStory } from "../../application/operators/panoramas.js";
import { pageOf } from "../../application/page-of.js";
import type { OperatorFilter, TaskOfAccount } from "../../application/ports/stores/operator-store.js";
import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { ResultFigures } from "../../domain/images/picture.js";
import { publicReason } from "../../domain/tasks/public-reason.js";
import { FAILURE_REASONS, isActive, placeOf, statusOf, TASK_STATES, type Task } from "../../domain/tasks/task.js";
import { type CommandError, misused, refused } from "../command-error.js";
import type { Service } from "../service.js";
import { tokens } from "../tokens.js";
import { ACCOUNT, type Command, type Output, optionalText, textOf, type Values } from "./common/command.js";
import { LIMIT, limitOf, nextLine } from "./common/page.js";

const TASK = { task: { type: "string", about: "id of the task" } } as const;

export const taskList: Command = {
  words: "task list",
  about: "Lists the tasks of an account, newest first, deleted ones included.",
  usage:
    "--account ID [--key ID] [--state STATE] [--reason REASON] [--from TIME] [--until TIME] [--limit N] [--before ID]",
  options: {
    ...ACCOUNT,
    key: { type: "string", about: "only tasks created by this key" },
    state: { type: "string", about: `only tasks in this state: ${TASK_STATES.join(", ")}` },
    reason: { type: "string", about: "only tasks that failed for this reason, such as content_refused" },
    from: { type: "string", about: "only tasks created at this RFC 3339 time or later" },
    until: { type: "string", about: "only tasks created before this time" },
    ...LIMIT,
    before: { type: "string", about: "only tasks older than this one" },
  },
  required: ["account"],
  example: "task list --account acc_…",
  run: (service, values) =>
    safeTry(async function* () {
      const limit = yield* limitOf(values);
      const filter = yield* filterOf(values);
      const id = textOf(values, "account") as AccountId;
      const { operators } = await service.get(tokens.stores);
      if ((await operators.account(id)) === undefined) return err(notFound(`There is no account ${id}.`));
      const before = optionalText(values, "before") as TaskId | undefined;
      const found = await operators.tasks(id, limit + 1, before, filter);
      const { items, last } = pageOf(found, limit);
      return ok({
        json: { tasks: items.map(taskJson), next: last?.task.id ?? null },
        lines: [...items.map(taskLine), ...nextLine(last?.task.id)],
      });
    }),
};

const filterOf = (values: Values): Result<OperatorFilter, CommandError> => {
  const given = (option: string) => optionalText(values, option);
  const state = TASK_STATES.find((one) => one === given("state"));
  if (given("state") !== undefined && state === undefined) {
    return err(misused(`--state must be one of ${TASK_STATES.join(", ")}.`));
  }
  const reason = FAILURE_REASONS.find((one) => one === given("reason"));
  if (given("reason") !== undefined && reason === undefined) {
    return err(misused(`--reason must be one of ${FAILURE_REASONS.join(", ")}.`));
  }
  const [from, until] = ["from", "until"].map((option) => {
    const time = given(option);
    return time === undefined ? undefined : new Date(time);
  });
  if ([from, until].some((time) => time !== undefined && Number.isNaN(time.getTime()))) {
    return err(misused("--from and --until must be times such as 2026-05-03T08:00:00Z."));
  }
  return ok({ key: given("key") as ApiKeyId | undefined, state, reason, from, until });
};

export const taskShow: Command = {
  words: "task show",
  about:
    "Shows a task of any account, even if deleted: stages with durations, provider, failure reason, credits, webhooks. The prompt is private and not shown.",
  usage: "--task ID|SLUG",
  options: { task: { type: "string", about: "id of the task, or the slug in the address of its page" } },
  required: ["task"],
  example: "task show --task pan_…",
  run: async (service, values) => {
    const { operators } = await service.get(tokens.storeUseCases);
    const story = await operators.explainTask(textOf(values, "task").trim());
    return story.map((told) => ({ json: storyJson(told), lines: storyLines(told) }));
  },
};

export const taskCancel: Command = {
  words: "task cancel",
  about: "Cancels and refunds a task that is queued, or that its provider can stop without a charge.",
  usage: "--task ID",
  options: TASK,
  required: ["task"],
  example: "task cancel --task pan_…",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const { task } = yield* await taskOf(service, values);
      await service.loadServer(); // for the provider
      const { panoramas } = await service.get(tokens.application);
      const after = yield* await panoramas.cancel(task.id, task.accountId);
      if (after.state === "failed" && after.reason === "canceled") {
        return ok({
          json: { task_id: task.id, status: "canceled" },
          lines: [`task ${task.id} is canceled; ${task.reservation.credits} credits are refunded`],
        });
      }
      return err(
        refused(
          isActive(after)
            ? `Task ${task.id} is ${after.state} and cannot be canceled without a charge at this moment. It goes on.`
            : `Task ${task.id} has already ${after.state}.`,
        ),
      );
    }),
};

export const taskRetry: Command = {
  words: "task retry",
  about: "Retries storing the image of a task with storage status failed. With --all: of every such task.",
  usage: "--task ID | --all",
  options: { ...TASK, all: { type: "boolean", about: "every failed image of all accounts" } },
  required: [],
  example: "task retry --all",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      if ((values.task === undefined) === (values.all !== true)) {
        return err(misused("Give --task for one image, or --all for every failed one."));
      }
      if (values.all === true) return ok(await retryAll(service));
      const { task } = yield* await taskOf(service, values);
      return await retryOne(service, task);
    }),
};

const retryAll = async (service: Service): Promise<Output> => {
  const { panoramas } = await service.get(tokens.storeUseCases);
  const retried = await panoramas.retryFailedImages();
  return { json: { retried }, lines: [`failed images that the service will fetch again: ${retried}`] };
};

const retryOne = async (service: Service, { id, accountId }: Task): Promise<Result<Output, CommandError>> => {
  const { panoramas } = await service.get(tokens.storeUseCases);
  const retried = await panoramas.retryImage(id, accountId);
  return retried
    .map(() => ({
      json: { task_id: id, storage_status: "uploading" },
      lines: [`the service will fetch the image of ${id} again`],
    }))
    .mapErr((error) => {
      switch (error.kind) {
        case "not_found":
          return error;
        case "illegal_transition":
          return refused(`The storage status of ${id} is ${error.from}. Only a failed image can be retried.`);
        case "stale_task":
          return refused(`The service is updating ${id} at this moment. Try again in a few seconds.`);
      }
    });
};

const taskOf = async (service: Service, values: Values): Promise<Result<TaskOfAccount, CommandError>> => {
  const id = textOf(values, "task") as TaskId;
  const { operators } = await service.get(tokens.stores);
  const found = await operators.task(id);
  return found === undefined ? err(notFound(`There is no task ${id}.`)) : ok(found);
};

const storyJson = ({ record, stages, entries, deliveries }: TaskStory) => ({
  ...taskJson(record),
  upstream_task_id: record.upstreamTaskId ?? null,
  detail: detailOf(record.task) ?? null,
  trace_id: traceIdOf(record.task) ?? null,
  stages: stages.map(({ name, at, afterSeconds }) => ({
    stage: name,
    at: at.toISOString(),
    after_seconds: afterSeconds,
  })),
  returns_to_queue: record.submissions,
  failed_image_attempts: record.imageAttempts,
  next_work_at: record.dueAt?.toISOString() ?? null,
  deleted_by: record.deleted?.by ?? null,
  hidden_reason: record.hidden?.reason ?? null,
  ledger: entries.map(({ kind, credits, at }) => ({ kind, credits, at: at.toISOString() })),
  deliveries: deliveries.map(({ id, event, delivery, url }) => ({
    delivery_id: id,
    event: event.type,
    url,
    state: delivery.state,
    attempts: delivery.attempts,
    detail: delivery.detail ?? null,
  })),
});

const storyLines = (story: TaskStory): string[] => {
  const { stages, ledger, deliveries, ...facts } = storyJson(story);
  return [
    ...stages.map(
      ({ stage, at, after_seconds }, index) =>
        `${at}  ${stage.padEnd(9)}  ${index === 0 ? "" : `after ${after_seconds.toFixed(1)} s`}`,
    ),
    ...ledger.map(({ kind, credits, at }) => `${at}  ${kind.padEnd(11)}  ${credits} credits`),
    ...deliveries.map(
      ({ delivery_id, event, url, state, attempts, detail }) =>
        `webhook ${delivery_id}  ${event}  ${url}  ${state} after ${attempts} attempts${detail ? `: ${detail}` : ""}`,
    ),
    ...Object.entries(facts)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name.padEnd(21)}  ${value}`),
  ];
};

const detailOf = (task: Task): string | undefined => (task.state === "failed" ? task.detail : undefined);

/** The second part of a W3C trace context. */
const traceIdOf = ({ traceparent }: Task): string | undefined => traceparent?.split("-")[1];

/** An operator needs no prompt to help, so none is shown that could be copied. */
const taskJson = ({ task, isDeleted }: TaskOfAccount) => ({
  task_id: task.id,
  account_id: task.accountId,
  slug: task.slug,
  status: statusOf(task),
  state: task.state,
  reason: task.state === "failed" ? task.reason : null,
  ...failureJson(task),
  storage_status: task.state === "succeeded" ? task.image.status : null,
  resolution: task.request.resolution,
  visibility: task.request.visibility,
  reference_images: task.request.imageUrls.length,
  credits: task.reservation.credits,
  key_id: task.apiKeyId ?? null,
  made_by: placeOf(task) ?? null,
  upstream_task_id: "upstreamTaskId" in task ? task.upstreamTaskId : null,
  ...figuresJson("figures" in task ? task.figures : undefined),
  created_at: task.reservedAt.toISOString(),
  ended_at: endOf(task)?.toISOString() ?? null,
  deleted: isDeleted,
});

/** Failure of the task in the customer's words. */
const failureJson = (task: Task) => {
  const failed = task.state === "failed" ? task : undefined;
  return {
    told_reason: failed ? publicReason(failed) : null,
    told_param: (failed && failedParam(failed)) ?? null,
    told_message: failed ? failureMessage(failed) : null,
  };
};

/** Figures measured in the result (domain/images/picture.ts). */
const figuresJson = (figures: ResultFigures | undefined) => ({
  seam: figures?.seam ?? null,
  seam_ratio: figures?.seamRatio ?? null,
  zenith_deviation: figures?.poleDeviation.zenith ?? null,
  nadir_deviation: figures?.poleDeviation.nadir ?? null,
  horizon: figures?.horizon ?? null,
});

const endOf = (task: Task): Date | undefined => {
  if (task.state === "succeeded") return task.succeededAt;
  return task.state === "failed" ? task.failedAt : undefined;
};

const taskLine = ({ task, isDeleted }: TaskOfAccount): string =>
  [
    task.id,
    task.reservedAt.toISOString(),
    task.request.resolution,
    task.state === "succeeded" ? `${task.state}, image ${task.image.status}` : task.state,
    ...(task.state === "failed" ? [task.reason] : []),
    ...(isDeleted ? ["deleted"] : []),
  ].join("  ");
