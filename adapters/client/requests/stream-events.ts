import type { Clock } from "../../../application/ports/clock.js";
import { readEventStream } from "../read-event-stream.js";
import type { PanoramaEvent } from "../resources.js";
import { isEvent, parseJson } from "./check-answer.js";

/** Three times the pause after which the service sends a comment: the connection is lost. */
const SILENCE_MILLISECONDS_MAX = 45_000;

/** The events of one connection. Ends without an error when the connection ends, breaks, or is silent for too long. */
export async function* streamEvents(
  body: ReadableStream<Uint8Array>,
  clock: Clock,
  signal: AbortSignal | undefined,
): AsyncGenerator<PanoramaEvent, void> {
  try {
    for await (const { id, data } of readEventStream(untilSilent(body, clock, signal))) {
      const event = parseJson(data);
      if (isEvent(event)) yield { ...(event as PanoramaEvent), id };
    }
  } catch {
    // The caller connects again, or polls, and gets the error of that if there is one.
  }
}

async function* untilSilent(
  body: ReadableStream<Uint8Array>,
  clock: Clock,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader(); // not every browser can iterate a stream
  try {
    for (;;) {
      const arrived = new AbortController();
      const stop = signal ? AbortSignal.any([arrived.signal, signal]) : arrived.signal;
      const silence = clock.sleep(SILENCE_MILLISECONDS_MAX, stop).then(() => undefined);
      const next = await Promise.race([reader.read(), silence]).finally(() => arrived.abort());
      if (next === undefined || next.done) return;
      yield next.value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
