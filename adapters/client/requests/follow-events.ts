import type { Result } from "neverthrow";
import type { ClientError } from "../client-error.js";
import type { EventOptions } from "../client-options.js";
import { panoramaError } from "../panorama-error.js";
import type { PanoramaEvent } from "../resources.js";
import { eventsRequest } from "./api-requests.js";
import { retryDelayMilliseconds } from "./call-with-retries.js";
import type { ServiceRequests } from "./service-requests.js";
import { streamEvents } from "./stream-events.js";

/**
 * After a failed connection, the minimum pause. After a closed one, the maximum of a random pause, doubled for each
 * connection without events, up to 8 s.
 */
const RECONNECT_MILLISECONDS = 1_000;

/** Yields events, and reconnects after a lost connection (`PanoramaClient.events`). */
export async function* followEvents(
  requests: ServiceRequests,
  { task, lastEventId, signal }: EventOptions,
): AsyncGenerator<PanoramaEvent, void> {
  let lastId = lastEventId;
  let wasOpen = false;
  for (let failures = 0; signal?.aborted !== true; ) {
    const opened = await open(requests, task, lastId, signal, wasOpen);
    if (opened.isErr()) {
      failures += 1;
      const pause = retryDelayMilliseconds(opened.error, failures, requests.random());
      if (opened.error.code === "aborted") return;
      if (!wasOpen || pause === undefined) throw panoramaError(opened.error, { taskId: task });
      await requests.clock.sleep(Math.max(pause, RECONNECT_MILLISECONDS), signal); // `retry-after` may be 0
      continue;
    }
    wasOpen = true;
    if (opened.value === undefined) return;
    failures += 1; // unless an event follows
    for await (const event of streamEvents(opened.value, requests.clock, signal)) {
      failures = 0;
      lastId = event.id;
      yield event;
    }
    await requests.clock.sleep(RECONNECT_MILLISECONDS * 2 ** Math.min(failures, 3) * requests.random(), signal);
  }
}

/** Opens the event stream. `undefined` for 204: the task has no further events. */
const open = async (
  requests: ServiceRequests,
  task: string | undefined,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
  taskExists: boolean,
): Promise<Result<ReadableStream<Uint8Array> | undefined, ClientError>> => {
  const opened = await requests.result(eventsRequest(task, lastEventId, signal), { taskExists });
  return opened.map(({ response }) => (response.status === 204 ? undefined : (response.body ?? undefined)));
};
