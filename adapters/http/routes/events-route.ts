import { setImmediate } from "node:timers/promises";
import { ok, type Result } from "neverthrow";
import * as z from "zod";
import type { UseCases } from "../../../application/create-application.js";
import { eventBody, type TaskUrls } from "../../../application/events/panorama-task.js";
import type { Clock } from "../../../application/ports/clock.js";
import type { AdmittedKey } from "../../../application/ports/stores/rate-limits.js";
import type { StoredEvent } from "../../../application/ports/stores/webhook-stores.js";
import type { AccountId } from "../../../domain/ids.js";
import { EVENT_TYPES, eventIdOf, parseEventNumber } from "../../../domain/tasks/account-event.js";
import { isInProgress } from "../../../domain/tasks/task.js";
import { OPEN_STREAMS_MAX, type OpenStream, type OpenStreams } from "../limits/open-requests.js";
import { errorBody } from "../replies/errors.js";
import type { Reply } from "../replies/reply.js";
import { panoramaTaskSchema } from "../replies/task-schemas.js";
import type { Exchange } from "../requests/exchange.js";
import { creditsResponseSchema } from "./credits-routes.js";
import type { GuardedHandler, TaskHandler } from "./guard.js";

/** A comment at this interval keeps proxies from closing an idle stream, and shows the client that it is alive. */
export const HEARTBEAT_MILLISECONDS = 15_000;

/** Maximum time of a stream. After it the stream ends, and the client connects again. */
export const STREAM_MILLISECONDS_MAX = 15 * 60 * 1000;

/** Pause of a client before it reconnects. */
const RETRY_MILLISECONDS = 2_000;

/** Events that are sent without a pause for other requests. */
const EVENTS_PER_TURN = 20;
const UNKNOWN_ID = ": Last-Event-ID is unknown: this stream begins with the first event that is kept\n";

/** With the answer that there are too many streams. */
const RETRY_AFTER_SECONDS = 10;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no", // nginx would collect the events
};

const timestamp = z.iso.datetime().meta({ format: "date-time", description: "When it happened." });

const balance = z.object({ remaining_credits: creditsResponseSchema.shape.remaining_credits });

/** The data of an event, and the body of a webhook (`eventBody`). */
export const eventSchema = z
  .union([
    z.object({ type: z.enum(EVENT_TYPES).exclude(["credits.low"]), timestamp, data: panoramaTaskSchema }),
    z.object({ type: z.literal("credits.low"), timestamp, data: balance }),
  ])
  .meta({ id: "Event", description: "What happened, with the task as GET /panoramas/{id} shows it now." });

type Parts = {
  readonly accounts: UseCases["accounts"];
  readonly events: UseCases["events"];
  readonly clock: Clock;
  readonly streams: OpenStreams;
};

/** `GET /events`: the events of the account as they happen, from the answer on. */
export const accountEventsRoute =
  (parts: Parts, urls: TaskUrls): GuardedHandler =>
  (exchange, { accountId: owner, key: apiKey }) =>
    answerWithStream(parts, { exchange, owner, apiKey }, async (open) => {
      const events = await parts.events.stream(owner, undefined, open.after, open.signal);
      return streamed(parts, open, events, urls);
    });

/**
 * `GET /panoramas/{id}/events`: the events of one task, from its first one on, until its last one. 204 if there are no
 * more, which tells an `EventSource` not to connect again.
 */
export const taskEventsRoute =
  (parts: Parts, urls: TaskUrls): TaskHandler =>
  (exchange, task, apiKey) =>
    answerWithStream(parts, { exchange, owner: task.accountId, apiKey }, async (open) => {
      const events = await parts.events.stream(task.accountId, task.id, open.after, open.signal);
      if (isInProgress(task)) return streamed(parts, open, events, urls);
      const first = await events.next();
      if (first.done !== true) return streamed(parts, open, startingWith(first.value, events), urls);
      open.close();
      return { status: 204, headers: { "cache-control": "no-store" }, body: undefined };
    });

/** Opens a stream, and closes it if `answer` rejects. */
async function answerWithStream(
  parts: Parts,
  request: StreamRequest,
  answer: (open: Open) => Promise<Reply>,
): Promise<Result<Reply, never>> {
  const open = openStream(parts, request);
  if ("status" in open) return ok(open);
  try {
    return ok(await answer(open));
  } catch (error) {
    open.close();
    throw error;
  }
}

type StreamRequest = { readonly exchange: Exchange; readonly owner: AccountId; readonly apiKey: AdmittedKey };

type Position = { readonly after: number | undefined; readonly isUnknown: boolean };
type Open = OpenStream & Position;

/** The answer if there is nothing to stream: to `HEAD`, and above the maximum of the account's streams. */
function openStream({ streams, accounts, clock }: Parts, { exchange, owner, apiKey }: StreamRequest): Open | Reply {
  if (exchange.method === "HEAD") return { status: 200, headers: HEADERS, body: "" };
  const stream = streams.open(owner, exchange.signal);
  if (stream === undefined) {
    const message = `This account already has ${OPEN_STREAMS_MAX} streams open, the maximum. Close one first.`;
    return errorBody(429, "rate_limited", message, { headers: { "retry-after": String(RETRY_AFTER_SECONDS) } });
  }
  exchange.isIdle = true;
  void clock.sleep(STREAM_MILLISECONDS_MAX, stream.signal).then(() => stream.close());
  accounts.watchKey(apiKey, stream.signal).signal.addEventListener("abort", stream.close);
  return { ...stream, ...positionOf(exchange, owner) };
}

/**
 * An unknown `Last-Event-ID` begins with the first event that is kept: an error would stop an `EventSource` for good,
 * and the client may have missed any of them. Their ids show which of them it has handled.
 */
function positionOf(exchange: Exchange, owner: AccountId): Position {
  const id = exchange.header("last-event-id");
  if (id === undefined || id === "") return { after: undefined, isUnknown: false };
  const after = parseEventNumber(id, owner);
  return after === undefined ? { after: 0, isUnknown: true } : { after, isUnknown: false };
}

const streamed = (
  { clock }: Parts,
  stream: Open,
  events: AsyncGenerator<StoredEvent, void>,
  urls: TaskUrls,
): Reply => ({ status: 200, headers: HEADERS, body: { chunks: textOf(stream, events, clock, urls) } });

async function* startingWith(
  first: StoredEvent,
  others: AsyncGenerator<StoredEvent, void>,
): AsyncGenerator<StoredEvent, void> {
  yield first;
  yield* others;
}

/** The text of the stream: events, and a comment when nothing has happened for a while. */
async function* textOf(
  stream: Open,
  events: AsyncGenerator<StoredEvent, void>,
  clock: Clock,
  urls: TaskUrls,
): AsyncGenerator<string, void> {
  try {
    // No blank line follows these: some clients take each block for a message, also one without data.
    yield `retry: ${RETRY_MILLISECONDS}\n`;
    if (stream.isUnknown) yield UNKNOWN_ID;
    for (let next = events.next(), sent = 0; ; sent += 1) {
      // Events of the past may be there at once, all of them: other requests must have their turn.
      if (sent % EVENTS_PER_TURN === EVENTS_PER_TURN - 1) await setImmediate();
      const arrived = new AbortController();
      const pause = clock.sleep(HEARTBEAT_MILLISECONDS, arrived.signal).then(() => undefined);
      const stored = await Promise.race([next, pause]).finally(() => arrived.abort());
      if (stored === undefined) {
        yield ": no new event\n";
        continue;
      }
      if (stored.done === true) return;
      const { event, task } = stored.value;
      yield `id: ${eventIdOf(event)}\nevent: ${event.type}\ndata: ${eventBody(event, task, urls)}\n\n`;
      next = events.next();
    }
  } finally {
    stream.close(); // ends `events` too
  }
}
