import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Clock } from "../../application/ports/clock.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { resultOf } from "../client/panorama-error.js";
import type { PanoramaTask, ProcessingTask } from "../client/resources.js";
import { forecastWords } from "../wording/sentences.js";
import { isFinished, taskMessage } from "./get-panorama-task.js";
import { canBeTaskId } from "./task-resources.js";
import { CALL_MILLISECONDS, callResultOf, errorResultOf } from "./tool.js";
import { afterFailure, toolErrorOf } from "./tool-error.js";
import { toolTaskSchema } from "./tool-task-schemas.js";

/** The extension of revision 2026-07-28 with which a tool answers a task, for clients that declare it. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

const FIRST_READ_MILLISECONDS = 5_000;
const ANSWER_MILLISECONDS = 44_000;
/** Poll interval if the service has not measured the time of generations. */
const POLL_MILLISECONDS = 3_000;
const POLL_MILLISECONDS_MAX = 10_000;
const POLL_MILLISECONDS_MIN = 1_000;

/** Members of a task that are known without reading it. */
type StartedTask = Pick<ProcessingTask, "id" | "status" | "created_at" | "queue_position" | "estimated_seconds">;

type Dependencies = { readonly client: PanoramaClient; readonly clock: Clock; readonly site: string };

/** True if the request declares the extension. Only then may a tool answer with a task. */
export function declaresTasks({ mcpReq }: Pick<ServerContext, "mcpReq">): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] as
    | { readonly extensions?: Readonly<Record<string, unknown>> }
    | undefined;
  return capabilities?.extensions?.[TASKS_EXTENSION] !== undefined;
}

/**
 * Answer of a generate tool instead of its result, while the panorama is being made.
 *
 * @param startedAt when the call began: after a slow creation there is less time to ask how long the generation takes
 */
export async function startedTask(
  id: string,
  { client, clock }: Dependencies,
  { signal, startedAt }: { readonly signal: AbortSignal; readonly startedAt: Date },
) {
  const left = ANSWER_MILLISECONDS - (clock.now().getTime() - startedAt.getTime());
  const timeout = Math.max(0, Math.min(FIRST_READ_MILLISECONDS, left));
  const read = await resultOf(client.read(id, { signal, timeout, maxRetries: 0 }));
  const now = clock.now();
  const unread: StartedTask = { id, status: "processing", created_at: now.toISOString() };
  // Also if it has ended meanwhile: the client gets the end with its first `tasks/get`.
  return { resultType: "task", ...shownTask(read.unwrapOr(unread), now), status: "working" };
}

/** Answers `tasks/get`, `tasks/cancel` and `tasks/update`. A task of the protocol is a task of the service. */
export function answerTasks(server: Server, dependencies: Dependencies): void {
  const { client, clock, site } = dependencies;
  const params = z.object({ taskId: z.string().min(1).refine(canBeTaskId) });
  const refusal = (error: Parameters<typeof toolErrorOf>[0]) =>
    error.code === "not_found"
      ? new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such task.")
      : new ProtocolError(ProtocolErrorCode.InternalError, error.message, toolErrorOf(error, site));

  server.setRequestHandler("tasks/get", { params }, async ({ taskId }, { mcpReq: { signal } }) => {
    const read = await resultOf(client.read(taskId, { signal, timeout: CALL_MILLISECONDS }));
    if (read.isErr()) throw refusal(read.error);
    const task = read.value;
    const shown = shownTask(task, clock.now());
    return shown.status === "completed" ? { ...shown, result: resultOfTask(task) } : shown;
  });
  server.setRequestHandler("tasks/cancel", { params }, async ({ taskId }, { mcpReq: { signal } }) => {
    const canceled = await resultOf(client.cancel(taskId, { signal, timeout: CALL_MILLISECONDS }));
    if (canceled.isErr()) throw refusal(canceled.error);
    return {};
  });
  server.setRequestHandler("tasks/update", { params }, () => {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "No task asks for input.");
  });
}

const shownTask = (task: PanoramaTask | StartedTask, now: Date) => ({
  taskId: task.id,
  status: statusOf(task),
  statusMessage: statusMessageOf(task),
  createdAt: task.created_at,
  lastUpdatedAt: task.status === "processing" ? now.toISOString() : task.finished_at,
  ttlMs: null,
  pollIntervalMs: pollMilliseconds(task),
});

/** A failed generation is a result: `failed` is for errors of the protocol. */
function statusOf(task: PanoramaTask | StartedTask): "working" | "completed" | "cancelled" {
  if (task.status === "processing") return "working";
  if (task.status === "failed" && task.error.reason === "canceled") return "cancelled";
  return isFinished(task) ? "completed" : "working";
}

function statusMessageOf(task: PanoramaTask | StartedTask): string {
  if (task.status === "failed") return task.error.message;
  if (task.status === "succeeded") return "The panorama is finished.";
  return ["The panorama is being generated", ...forecastWords(task)].join(", ");
}

/** A quarter of the time that the service expects the generation to take still. */
function pollMilliseconds(task: PanoramaTask | StartedTask): number {
  const seconds = task.status === "processing" ? task.estimated_seconds : undefined;
  if (seconds === undefined) return POLL_MILLISECONDS;
  return Math.min(POLL_MILLISECONDS_MAX, Math.max(POLL_MILLISECONDS_MIN, Math.round(seconds * 250)));
}

/** Final result of the generate tool, with the links. */
function resultOfTask(task: PanoramaTask) {
  if (task.status === "failed") {
    const { message } = task.error;
    return errorResultOf({ code: "generation_failed", message, what_to_do: afterFailure(task) });
  }
  return callResultOf({ ...toolTaskSchema.parse(task), message: taskMessage(task) });
}
