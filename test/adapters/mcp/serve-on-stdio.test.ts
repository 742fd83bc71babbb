import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { serveOnStdio } from "../../../adapters/mcp/serve-on-stdio.js";
import { setUpMcp } from "./mcp-setup.js";

type Sent = { readonly id?: unknown; readonly result?: object; readonly error?: { readonly code: number } };

const VERSION = "io.modelcontextprotocol/protocolVersion";

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
    for (const line of lines) {
      if (Buffer.isBuffer(line)) stdin.write(Buffer.concat([line, Buffer.from("\n")]));
      else stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
    }
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
  const refused = (id: unknown, code = -32600) => ({
    jsonrpc,
    id,
    error: expect.objectContaining({ code, message: expect.any(String) }),
  });
  const pong = (id: unknown) => ({ jsonrpc, id, result: {} });

  it.each<[what: string, line: unknown, id: unknown, code?: number]>([
    ["params as a list", { ...ping(7), params: [1] }, 7],
    ["params as a text", { ...ping("a"), params: "b" }, "a"],
    ["no jsonrpc", { id: 7, method: "ping" }, 7],
    ["another jsonrpc", { ...ping(7), jsonrpc: "1.0" }, 7],
    ["no method", { jsonrpc, id: 7 }, 7],
    ["a method that is no text", { ...ping(7), method: 1 }, 7],
    ["a fraction as id", ping(7.5), null],
    ["an id that a number cannot hold", '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', null],
    ["a progress token that a number cannot hold", { ...ping(7), params: { _meta: { progressToken: 2 ** 60 } } }, 7],
    [
      "nesting without end",
      `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":${"[".repeat(1e5)}${"]".repeat(1e5)}}}`,
      7,
    ],
    [
      "another encoding",
      Buffer.from('{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"\xe9"}}', "latin1"),
      null,
      -32700,
    ],
    ["an unknown method", { ...ping(7), method: "rpc.no" }, 7, -32601],
    ["an empty method", { ...ping(7), method: "" }, 7, -32601],
    ["an unknown tool", { ...ping(7), method: "tools/call", params: { name: "no" } }, 7, -32602],
    ["another revision", { ...ping(7), params: { _meta: { [VERSION]: "2099-01-01" } } }, 7, -32022],
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

  const bom = "\uFEFF";
  const balance = (params: object) => ({
    jsonrpc,
    id: 7,
    method: "tools/call",
    params: { name: "get_credit_balance", ...params },
  });

  it.each<[what: string, line: unknown]>([
    ["an empty list as params", { ...ping(7), params: [] }],
    ["null as params", { ...ping(7), params: null }],
    ["a byte order mark", `${bom}${JSON.stringify(ping(7))}`],
    ["white space and a carriage return", ` \t${JSON.stringify(ping(7))} \r`],
    ["blank lines", `\n\r\n${bom}\n${JSON.stringify(ping(7))}\n`],
    ["an unknown member", { ...ping(7), trace: { a: 1 } }],
    ["null for absent members", { ...ping(7), params: { _meta: null, cursor: null } }],
    ["a whole number with a fraction", '{"jsonrpc":"2.0","id":7.0,"method":"ping"}'],
    ["no arguments", balance({})],
    ["null as arguments", balance({ arguments: null })],
    ["an empty list as arguments", balance({ arguments: [] })],
    ["null as progress token", balance({ _meta: { progressToken: null } })],
    ["null as cursor", { ...ping(7), method: "tools/list", params: { cursor: null } }],
    [
      "empty lists as capabilities",
      { ...initialize("2025-11-25"), id: 7, params: { ...initialize("2025-11-25").params, capabilities: [] } },
    ],
    [
      "a nested empty list and null",
      {
        ...initialize("2025-11-25"),
        id: 7,
        params: { ...initialize("2025-11-25").params, capabilities: { roots: [], sampling: null } },
      },
    ],
  ])("takes %s as what it means", async (_, line) => {
    const { answers } = await answersTo(`${bom}${JSON.stringify(initialize("2025-11-25"))}`, line);
    expect(answers).toHaveLength(2);
    expect(answers).toContainEqual({ jsonrpc, id: 7, result: expect.any(Object) });
  });

  it.each<[id: unknown]>([[0], [-1], [""], ["7"], [Number.MAX_SAFE_INTEGER], ["9007199254740993"]])(
    "answers under the id %j",
    async (id) => {
      expect((await answersTo(ping(id))).answers).toEqual([pong(id)]);
    },
  );

  it.each<[what: string, line: unknown]>([
    ["a notification", { jsonrpc, method: "notifications/initialized" }],
    ["a notification with null as id", { jsonrpc, id: null, method: "notifications/initialized", params: null }],
    ["an invalid notification", { jsonrpc, method: "notifications/initialized", params: 5 }],
    ["an unknown notification", { jsonrpc, method: "notifications/no" }],
    ["an answer", { jsonrpc, id: 8, result: {} }],
    ["an answer with error null", { jsonrpc, id: 8, result: {}, error: null }],
    ["an invalid answer", { jsonrpc, id: 8, result: null }],
    ["an error without id", { jsonrpc, id: null, error: { code: -32700, message: "no" } }],
  ])("does not answer %s", async (_, line) => {
    const { answers } = await answersTo(initialize("2025-11-25"), line, ping(8));
    expect(answers).toHaveLength(2);
    expect(answers).toContainEqual(pong(8));
  });

  it.each<[method: string, params: object | undefined, message: string]>([
    ["tools/call", undefined, "params: must be an object."],
    ["tools/call", { arguments: {} }, "params.name: must be a string."],
    ["tools/call", { name: "get_credit_balance", arguments: "{}" }, "params.arguments: must be an object."],
    ["tools/list", { cursor: 5 }, "params.cursor: must be a string."],
    ["resources/read", {}, "params.uri: must be a string."],
    [
      "initialize",
      { capabilities: {}, clientInfo: { name: "a", version: "1" } },
      "params.protocolVersion: must be a string.",
    ],
  ])("says in a sentence what is wrong in %s with %j", async (method, params, message) => {
    const { answers } = await answersTo(initialize("2025-11-25"), { ...ping(7), method, params });
    expect(answers).toContainEqual({ jsonrpc, id: 7, error: { code: -32602, message } });
  });

  it("refuses initialize in a batch", async () => {
    expect((await answersTo([initialize("2025-03-26")])).answers).toEqual([[refused("start")]]);
  });

  it("answers a last line without a line end", async () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const served = serveOnStdio(on.servers(on.service.apiKey), { stdin, stdout }, () => {}, LAST_ANSWERS_MILLISECONDS);
    stdin.end(JSON.stringify(ping(1)));
    await served;
    stdout.end();
    expect(JSON.parse(await text(stdout))).toEqual(pong(1));
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
