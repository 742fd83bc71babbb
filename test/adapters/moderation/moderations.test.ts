import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { describeModeration } from "../../../adapters/contracts/moderation-contract.js";
import { httpModeration } from "../../../adapters/moderation/http-moderation.js";
import { openAiModeration } from "../../../adapters/moderation/open-ai-moderation.js";
import { parseWordList, wordListModeration } from "../../../adapters/moderation/word-list-moderation.js";
import { type Behaviour, fakeModeration } from "../../support/fake-moderation.js";

let server: Awaited<ReturnType<typeof fakeModeration>>;
beforeAll(async () => {
  server = await fakeModeration();
});
afterEach(() => {
  server.state.behaviour = undefined;
  server.calls.length = 0;
});
afterAll(() => server.close());

const openAi = () => openAiModeration({ baseUrl: `${server.url}/v1`, apiKey: "key", model: "omni-moderation-latest" });
const http = () => httpModeration({ url: `${server.url}/judge`, token: "key" });
const words = (list: string) => wordListModeration(parseWordList(list)._unsafeUnwrap());
const LAKE = { kind: "text", text: "a quiet lake" } as const;
const soon = () => AbortSignal.timeout(150);

describeModeration({ describe, it }, "openAiModeration", "blocked", openAi);
describeModeration({ describe, it }, "httpModeration", "blocked", http);
describeModeration({ describe, it }, "wordListModeration", "blocked", () => words("block blocked"));

describe("the moderations over HTTP", () => {
  it("send each part in the form that the other side documents", async () => {
    const image = { kind: "image", bytes: Uint8Array.of(1, 2), type: "image/webp" } as const;
    const url = { kind: "image_url", url: "https://example.com/a.jpg" } as const;
    for (const part of [LAKE, image, url]) await openAi().judge(part, soon());
    for (const part of [LAKE, image, url]) await http().judge(part, soon());
    const bodies = server.calls.map(({ body }) => body.input);
    expect(bodies).toEqual([
      [{ type: "text", text: "a quiet lake" }],
      [{ type: "image_url", image_url: { url: "data:image/webp;base64,AQI=" } }],
      [{ type: "image_url", image_url: { url: "https://example.com/a.jpg" } }],
      { type: "text", text: "a quiet lake" },
      { type: "image", media_type: "image/webp", data: "AQI=" },
      { type: "image_url", url: "https://example.com/a.jpg" },
    ]);
    expect(server.calls[0]?.body.model).toBe("omni-moderation-latest");
    expect(new Set(server.calls.map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer key"]));
  });

  const page = JSON.stringify({ answer: "allow", results: [{ flagged: false }], more: "x".repeat(100_000) });
  const cases: readonly (readonly [string, Behaviour])[] = [
    ["500", (response) => response.writeHead(500).end("{}")],
    ["a redirect", (response) => response.writeHead(307, { location: "/elsewhere" }).end()],
    ["a page of HTML", (response) => response.end("<html>allow</html>")],
    ["another form", (response) => response.end('{"answer":"ALLOW","results":[]}')],
    ["null", (response) => response.end("null")],
    ["a huge answer", (response) => response.end(page)],
    ["no answer", () => {}],
    ["a slow drip", (response) => void response.write('{"answer":"allow"')],
    ["a closed connection", (response) => void response.destroy()],
  ];
  it.each(cases)("take %s for no answer", async (_, behaviour) => {
    server.state.behaviour = behaviour;
    for (const moderation of [openAi(), http()]) {
      const answered = await moderation.judge(LAKE, soon());
      expect(answered._unsafeUnwrapErr().kind).toBe("moderation_unavailable");
      expect(answered._unsafeUnwrapErr().reason).not.toContain("lake");
    }
    expect(server.calls.some(({ path }) => path === "/elsewhere")).toBe(false);
  });
});

describe("wordListModeration", () => {
  const answer = async (list: string, text: string) =>
    (await words(list).judge({ kind: "text", text }, soon()))._unsafeUnwrap();

  it.each([
    ["block", "a BLADE at night"],
    ["block", "ｂｌａｄｅ"],
    ["block", "bl\u200bade"],
    ["allow", "blades of grass"],
    ["allow", "a bladerunner"],
    ["review", "Straße"],
    ["review", "the STRASSE, here"],
    ["review", "two   words."],
    ["allow", "words two"],
    ["block", "two words and a blade"],
  ])("answers %s to %j", async (expected, text) => {
    expect(await answer("# list\r\nblock blade\r\n\r\nreview strasse\nreview  Two words", text)).toBe(expected);
  });

  it("finds a word in any form and case, wherever it stands", async () => {
    const form = fc.constantFrom("NFC", "NFD", "NFKC", "NFKD");
    await fc.assert(
      fc.asyncProperty(form, fc.boolean(), fc.constantFrom("", "a ", "«", "1. "), async (form, upper, before) => {
        const text = `${before}${(upper ? "ÉCLAIR" : "éclair").normalize(form)}!`;
        expect(await answer("block éclair", text)).toBe("block");
      }),
    );
  });

  it("names the line of a mistake", () => {
    expect(parseWordList("block a\nforbid b")._unsafeUnwrapErr()).toBe("line 2 must be block or review, and a word");
    expect(parseWordList("block !!")._unsafeUnwrapErr()).toContain("line 1");
  });
});
