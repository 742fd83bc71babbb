import { err, ok, type Result } from "neverthrow";
import type { ClientError } from "../client-error.js";
import type { WaitOptions } from "../client-options.js";
import type { PanoramaTask } from "../resources.js";
import { eventsRequest, readRequest } from "./api-requests.js";
import { isTask } from "./check-answer.js";
import { sendRequest } from "./send-request.js";
import type { ServiceRequests } from "./service-requests.js";
import { streamEvents } from "./stream-events.js";

/** Longer than the deadlines of the service for a generation and for saving its image. */
export const WAIT_MILLISECONDS = 15 * 60_000;

/** Seconds of `Prefer: wait` per read: short enough to report progress, long enough for 60 reads a minute. */
const WAIT_SLICE_SECONDS = 10;
/** The minimum time between two reads, in case the service does not wait. */
const POLL_MILLISECONDS_MIN = 2_000;
/** Extra time for the last read of a wait. */
const WAIT_GRACE_MILLISECONDS = 8_000;

/** Waits until the task has ended, or until the timeout, and returns it. */
export const waitForTask = async (
  requests: ServiceRequests,
  id: string,
  options: WaitOptions,
): Promise<Result<PanoramaTask, ClientError>> => {
  const { timeout = WAIT_MILLISECONDS, onProgress, signal } = options;
  const start = requests.milliseconds();
  if (onProgress === undefined) {
    const ended = await readEndFromStream(requests, id, timeout, signal);
    if (ended !== undefined) return ok(ended);
  }
  for (;;) {
    const sentAt = requests.milliseconds();
    const left = Math.max(0, timeout - (sentAt - start));
    const waitSeconds = Math.min(WAIT_SLICE_SECONDS, Math.floor(left / 1000));
    const read = await requests.result<PanoramaTask>(readRequest(id, waitSeconds, signal), {
      timeout: left + WAIT_GRACE_MILLISECONDS,
      perAttemptTimeout: requests.limits.perAttemptTimeout + waitSeconds * 1000,
      taskExists: true,
    });
    if (read.isErr()) return err(read.error);
    const task = read.value.value;
    if (isDone(task)) return ok(task);

    const now = requests.milliseconds();
    onProgress?.({ task, elapsedSeconds: (now - start) / 1000 });
    const pause = Math.max(0, sentAt + POLL_MILLISECONDS_MIN * (1 + requests.random() / 4) - now);
    if (now + pause >= start + timeout) return ok(task);
    await requests.clock.sleep(pause, signal);
  }
};

/** Reads the event stream until the task has ended. `undefined` if there is no stream, or if it ends early. */
const readEndFromStream = async (
  { service, limits, clock }: ServiceRequests,
  id: string,
  timeout: number,
  signal?: AbortSignal,
): Promise<PanoramaTask | undefined> => {
  const timeoutReached = new AbortController();
  const done = new AbortController();
  void clock.sleep(timeout, done.signal).then(() => timeoutReached.abort());
  const stop = signal ? AbortSignal.any([timeoutReached.signal, signal]) : timeoutReached.signal;
  try {
    const request = eventsRequest(id, undefined, stop);
    const opened = await sendRequest(service, request, limits.perAttemptTimeout);
    const body = opened.isOk() ? opened.value.response.body : null;
    if (body === null) return undefined;
    for await (const { type, data } of streamEvents(body, clock, stop)) {
      if (type !== "credits.low" && isTask(data) && isDone(data)) return data;
    }
    return undefined;
  } finally {
    done.abort();
  }
};

const isDone = (task: PanoramaTask): boolean =>
  task.status === "failed" ||
  (task.status === "succeeded" && task.output !== undefined && task.output.storage_status !== "uploading");
