import type { Clock } from "../../../application/ports/clock.js";
import type { PanoramaEvent } from "../resources.js";
import { isEvent, parseJson } from "./check-answer.js";

/** Silence after which the connection counts as lost: three keep-alive intervals. */
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
    // The caller reconnects or polls, and sees a lasting error then.
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

/** One event of a `text/event-stream`; comments and other fields are left out. */
type StreamedEvent = { readonly id: string; readonly data: string };

/** Maximum length of one event. */
const EVENT_CHARACTERS_MAX = 1024 * 1024;

/**
 * Reads the events of a stream as they arrive. Ends with the body, throws if it breaks off. `PanoramaClient.events`
 * does this, and connects again.
 */
export async function* readEventStream(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<StreamedEvent, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    if (rest.length > EVENT_CHARACTERS_MAX) throw new Error("The stream has an event that is too long.");
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => splitField(line)));
      const [id, data] = [fields.get("id"), fields.get("data")];
      if (id !== undefined && data !== undefined) yield { id, data };
    }
  }
}

const splitField = (line: string): [name: string, value: string] => {
  const colon = line.indexOf(":");
  return colon === -1 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
};
