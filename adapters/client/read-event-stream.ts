/** One event of a `text/event-stream`; comments and other fields are left out. */
export type StreamedEvent = { readonly id: string; readonly data: string };

/** Above this length of one event the stream is not that of the service. */
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
