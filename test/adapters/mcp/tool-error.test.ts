import { describe, expect, it } from "vitest";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import type { Fault } from "../../support/fake-service.js";
import { USUAL_OFFER } from "../../support/fake-service.js";
import { freePort } from "../../support/free-port.js";
import { base64, pngBytes } from "../../support/image-bytes.js";
import { GENERATIONS, messageOf } from "../../support/mcp-session.js";
import { aHarbour, setUpMcp } from "./mcp-setup.js";

describe.each(GENERATIONS)("with a client of %s:", (revision) => {
  const on = setUpMcp(revision);
  const { sessionWith, post } = on;

  describe("the MCP tools and a failing service", () => {
    const answer = (status: number, body: string, headers = {}): Fault => ({ kind: "answer", status, body, headers });
    const refusal = (code: string) => JSON.stringify({ error: { code, message: "what happened" } });

    it.each<[string, Fault, Record<string, unknown>]>([
      ["times out", { kind: "accept-and-hang" }, { code: "timeout", may_have_been_charged: true }],
      ["drops the connection", { kind: "accept-and-drop" }, { code: "network_error", may_have_been_charged: true }],
      ["answers 500", answer(500, refusal("internal_error")), { code: "internal_error", may_have_been_charged: true }],
      ["answers HTML", answer(200, "<html>"), { code: "unexpected_answer", may_have_been_charged: true }],
      [
        "answers rate_limited",
        answer(429, refusal("rate_limited"), { "retry-after": "50" }),
        { code: "rate_limited", retry_after_seconds: 50, what_to_do: "Wait 50 seconds, then call the tool again." },
      ],
      [
        "answers too_many_active_tasks",
        answer(429, refusal("too_many_active_tasks")),
        { code: "too_many_active_tasks", what_to_do: expect.stringMatching(/^Wait 30 seconds until one of the tasks/) },
      ],
      [
        "answers upstream_error",
        answer(502, refusal("upstream_error")),
        {
          code: "upstream_error",
          request_id: "req-fault",
          what_to_do: expect.stringMatching(
            /^Wait 30 seconds, then create the panorama once more\. .+ tell the person/,
          ),
        },
      ],
      [
        "answers insufficient_credits",
        answer(402, refusal("insufficient_credits")),
        { code: "insufficient_credits", what_to_do: expect.stringMatching(/^Tell the person .+credits can be bought/) },
      ],
      [
        "does not find an image",
        answer(400, '{"error":{"code":"invalid_request","message":"No.","param":"image_urls[0]"}}'),
        { code: "invalid_request", what_to_do: expect.stringMatching(/^Upload the image of image_urls\[0\] with/) },
      ],
      [
        "refuses a reference image",
        answer(502, '{"error":{"code":"upstream_error","message":"No.","reason":"reference_unreachable"}}'),
        {
          code: "upstream_error",
          what_to_do: expect.stringMatching(/^Upload the image with .+ Nothing was charged\.$/),
        },
      ],
    ])(
      "give one tool error, and create at most one task, if the service %s on every attempt",
      async (_, fault, expected) => {
        on.service.failNext("POST", "/panoramas", ...Array(6).fill(fault));
        const error = await on.session.error("generate_panorama_from_text", aHarbour);
        expect(error).toMatchObject({ message: expect.any(String), what_to_do: expect.any(String), ...expected });
        if (expected.may_have_been_charged) {
          expect(error?.what_to_do).toContain("call this tool again with exactly the same arguments");
          expect(error?.what_to_do).toContain(`tell the person: ${on.service.origin}/works`);
        }
        expect(on.service.tasks.length).toBeLessThanOrEqual(1);
        expect(new Set(post().map(({ headers }) => headers["idempotency-key"]))).toEqual(new Set(['"key-1"']));
      },
    );

    it("lead to the person if the service cannot be reached twice", async () => {
      const nobodyListens = { baseUrl: `http://127.0.0.1:${await freePort()}`, apiKey: on.service.apiKey };
      const session = await sessionWith(on.service.apiKey, new PanoramaClient(nobodyListens, on.clock, () => 0.5));
      expect(await session.error("generate_panorama_from_text", aHarbour)).toMatchObject({
        code: "network_error",
        what_to_do: expect.stringMatching(
          /^Wait 10 seconds, then .+ If it fails again, tell the person that the service/,
        ),
      });
      await session.client.close();
    });

    it.each([
      ["content_refused", /ask for another description/],
      ["provider_failed", /once more/],
    ])("say what to do after a generation that failed with %s", async (reason, whatToDo) => {
      const error = { code: "generation_failed", reason, message: "The generation failed." };
      const task = { id: "task-1", status: "failed", credits_charged: 4, error };
      on.service.failNext("GET", "/panoramas/task-1", answer(200, JSON.stringify(task)));
      expect((await on.session.call("get_panorama_task", { id: "task-1" })).structuredContent).toMatchObject({
        error: { code: "generation_failed", what_to_do: expect.stringMatching(whatToDo) },
      });
    });

    it("continue a possibly accepted creation when called again with the same arguments, and charge once", async () => {
      on.service.failNext("POST", "/panoramas", ...Array<Fault>(6).fill({ kind: "accept-and-drop" }));
      await on.session.error("generate_panorama_from_text", aHarbour);
      const continued = await on.session.call("generate_panorama_from_text", { ...aHarbour, visibility: "private" });
      expect(continued.structuredContent).toMatchObject({ id: "task-1" });
      expect(messageOf(continued)).toContain("earlier call, charged once");
      expect(on.service.remainingCredits).toBe(96);

      const another = await on.session.call("generate_panorama_from_text", aHarbour);
      expect(another.structuredContent).toMatchObject({ id: "task-2" });
    });

    it("continue a possibly accepted creation also after its price has risen above max_credits", async () => {
      on.service.failNext("POST", "/panoramas", ...Array<Fault>(6).fill({ kind: "accept-and-drop" }));
      const cheap = { ...aHarbour, max_credits: 4 };
      await on.session.error("generate_panorama_from_text", cheap);
      on.service.offer = { ...USUAL_OFFER, prices: { "1k": 40, "2k": 60, "4k": 90 } };
      // Another max_credits is another request for the service, which would refuse the key.
      const other = { ...aHarbour, max_credits: 5 };
      expect(await on.session.error("generate_panorama_from_text", other)).toMatchObject({ code: "budget_exceeded" });
      const continued = await on.session.call("generate_panorama_from_text", cheap);
      expect(continued.structuredContent).toMatchObject({ id: "task-1" });
      expect(on.service.tasks).toHaveLength(1);
    });

    it("report no possible charge for a failed read or upload", async () => {
      on.service.failNext("POST", "/images", answer(400, refusal("invalid_request")));
      const images = [base64(pngBytes(20))];
      expect(await on.session.error("upload_reference_images", { images })).toEqual({
        code: "invalid_request",
        message: "what happened",
        what_to_do: "Correct the arguments as the message says and call the tool again. Nothing was charged.",
        status: 400,
        request_id: "req-fault",
      });
      expect(await on.session.error("get_panorama_task", { id: "unknown" })).toMatchObject({
        code: "not_found",
        what_to_do: expect.stringMatching(/panorama:\/\/recent.+tell the person/),
      });
    });

    it("report a wrong or missing API key without showing it, in answers and in the log", async () => {
      const secret = "sk-wrongwrongwrongwrongwrongwrongwrongwrongwro";
      const wrong = await sessionWith(secret);
      const error = await wrong.error("get_credit_balance");
      expect(error).toMatchObject({
        code: "invalid_api_key",
        status: 401,
        what_to_do: expect.stringMatching(/^Ask the person to create a valid key/),
      });
      const none = await sessionWith("");
      expect(await none.error("get_credit_balance")).toMatchObject({ code: "invalid_api_key" });
      expect(JSON.stringify([error, on.logged])).not.toContain(secret);
      expect(on.logged.filter((line) => line === "get_credit_balance: invalid_api_key")).toHaveLength(2);
      await Promise.all([wrong.client.close(), none.client.close()]);
    });
  });
});
