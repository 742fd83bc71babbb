import type { CallOptions } from "../client-options.js";
import { isTask } from "./check-answer.js";
import type { ApiRequest } from "./send-request.js";

export const panoramaPath = (id: string): string => `/panoramas/${encodeURIComponent(id)}`;

export const get = (path: string, isAnswer: (value: unknown) => boolean, { signal }: CallOptions): ApiRequest => ({
  method: "GET",
  path,
  headers: {},
  isAnswer,
  signal,
});

export const readRequest = (id: string, waitSeconds: number, signal: AbortSignal | undefined): ApiRequest => ({
  ...get(panoramaPath(id), isTask, { signal }),
  headers: waitSeconds > 0 ? { prefer: `wait=${waitSeconds}` } : {},
});

export const eventsRequest = (
  task: string | undefined,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): ApiRequest => ({
  method: "GET",
  path: `${task === undefined ? "" : panoramaPath(task)}/events`,
  headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
  signal,
});
