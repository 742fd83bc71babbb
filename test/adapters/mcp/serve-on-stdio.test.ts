import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { serveOnStdio } from "../../../adapters/mcp/serve-on-stdio.js";
import { setUpMcp } from "./mcp-setup.js";

type Sent = { readonly id?: unknown; readonly result?: object; readonly error?: { readonly code: number } };

/** Longer than a slow machine needs for all answers. */
const LAST_ANSWERS_MILLISECONDS = 60_000;

describe("the MCP server on stdio", () => {
  const on = setUpMcp();

  /** The answers, and how long they took after the end of the input. */
  const answersTo = async (...lines: readonly unknown[]) => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const log = (line: string) => on.logged.push(line);
    const served = serveOnStdio(on.servers(on.service.apiKey), { stdin, stdout }, log, LAST_ANSWERS_MILLISECONDS);
    const written = text(stdout);
    for (const line of lines) stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
    const endedAt = performance.now();
    stdin.end();
    await served;
    const milliseconds = performance.now() - endedAt;
    stdout.end();
    const answers = (await written).trim().split("\n").filter(Boolean);
    return { answers: answers.map((line): Sent | Sent[] => JSON.parse(line)), milliseconds };
  };
  const jsonrpc = "2.0";
  const ping = (id: unknown) => ({ jsonrpc, id, method: "ping" });
  const initialize = (protocolVersion: string) => ({
    jsonrpc,
    id: "start",
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } },
  });
  const refused = (id: unknown, code = -32600) => ({ jsonrpc, id, error: { code, message: expect.any(String) } });
  const pong = (id: unknown) => ({ jsonrpc, id, result: {} });

  it.each<[what: string, line: unknown, id: unknown, code?: number]>([
    ["params as an array", { ...ping(7), params: [] }, 7],
    ["params as a text", { ...ping("a"), params: "b" }, "a"],
    ["params as null", { ...ping("a"), params: null }, "a"],
    ["no jsonrpc", { id: 7, method: "ping" }, 7],
    ["another jsonrpc", { ...ping(7), jsonrpc: "1.0" }, 7],
    ["no method", { jsonrpc, id: 7 }, 7],
    ["a method that is no text", { ...ping(7), method: 1 }, 7],
    ["a fraction as id", ping(7.5), 7.5],
    ["null as id", ping(null), null],
    ["an object as id", ping({}), null],
    ["a number", 7, null],
    ["an empty batch", [], null],
    ["no JSON", "{", null, -32700],
  ])("answers a line with %s, and continues", async (_, line, id, code) => {
    const { answers } = await answersTo(initialize("2025-11-25"), line, ping(8));
    expect(answers).toHaveLength(3);
    expect(answers).toEqual(expect.arrayContaining([refused(id, code), pong(8)]));
  });

  it("answers a batch with one array that has an answer for each request", async () => {
    const notification = { jsonrpc, method: "notifications/initialized" };
    const call = { jsonrpc, id: 3, method: "tools/call", params: { name: "get_credit_balance", arguments: {} } };
    const batch = [ping(1), notification, { id: 2, method: "ping" }, call, ping("4")];
    const { answers } = await answersTo(initialize("2025-03-26"), batch, [notification], ping(5));
    expect(answers[0]).toMatchObject({ id: "start", result: { protocolVersion: "2025-03-26" } });
    const batches = answers.filter((answer) => Array.isArray(answer));
    expect(batches).toHaveLength(1);
    expect(batches[0]).toHaveLength(4);
    expect(batches[0]).toEqual(
      expect.arrayContaining([
        pong(1),
        refused(2),
        expect.objectContaining({ id: 3, result: expect.objectContaining({ structuredContent: expect.any(Object) }) }),
        pong("4"),
      ]),
    );
    expect(answers).toContainEqual(pong(5));
    expect(answers).toHaveLength(3);
  });

  it("ends at once after a cancelled call, also of a batch, whose other answers are sent", async () => {
    on.service.failNext("GET", "/credits", { kind: "hang" }, { kind: "hang" });
    const call = { jsonrpc, id: 3, method: "tools/call", params: { name: "get_credit_balance", arguments: {} } };
    const cancel = (requestId: unknown) => ({ jsonrpc, method: "notifications/cancelled", params: { requestId } });
    const { answers, milliseconds } = await answersTo(
      initialize("2025-03-26"),
      [{ ...call, id: 4 }, ping(5)],
      call,
      cancel(3),
      cancel(4),
    );
    expect(answers).toEqual([expect.objectContaining({ id: "start" }), [pong(5)]]);
    expect(milliseconds).toBeLessThan(LAST_ANSWERS_MILLISECONDS);
  });
});
