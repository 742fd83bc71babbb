import { describe, expect, it } from "vitest";
import { readEventStream } from "../../../adapters/client/requests/stream-events.js";

describe("readEventStream", () => {
  it("reads events that arrive in pieces, and leaves out comments", async () => {
    const bytes = new TextEncoder().encode(
      'retry: 2000\n\n: alive\nid: 1\nevent: a\ndata: {"ä":"🌄"}\n\nid:2\ndata:b\n\nid: 3\nda',
    );
    for (const size of [1, 7, 1000]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.slice(n * size, (n + 1) * size),
      );
      const events: unknown[] = [];
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      });
      for await (const event of readEventStream(body)) events.push(event);
      expect(events).toEqual([
        { id: "1", data: '{"ä":"🌄"}' },
        { id: "2", data: "b" },
      ]);
    }
  });
});
