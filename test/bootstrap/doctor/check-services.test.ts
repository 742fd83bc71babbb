import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkStripe, checkTraces } from "../../../bootstrap/doctor/check-services.js";
import { freePort } from "../../support/free-port.js";

const LIVE = { secretKey: "sk_live_1", webhookSecret: "whsec_1" };

/** Answers with the status; keeps what was asked. */
const answering = async (status: number) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`.trim());
    request.resume().on("end", () => response.writeHead(status).end("{}"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

describe("checkStripe", () => {
  it.each([
    [200, LIVE, "ok"],
    [403, LIVE, "ok"],
    [401, LIVE, "failed"],
    [500, LIVE, "warning"],
    [200, { ...LIVE, secretKey: "sk_test_1" }, "warning"],
  ])("with the answer %i and the key %o is %s", async (status, stripe, outcome) => {
    const { url, asked } = await answering(status);
    expect(await checkStripe({ stripe }, url)).toMatchObject([{ name: "Stripe", status: outcome }]);
    expect(asked).toEqual([`GET /v1/balance Bearer ${stripe.secretKey}`]);
  });

  it("fails without an answer, and is left out without Stripe", async () => {
    const [finding] = await checkStripe({ stripe: LIVE }, `http://127.0.0.1:${await freePort()}`);
    expect(finding).toMatchObject({ status: "failed", kind: "unreachable" });
    expect(finding?.message).not.toContain(LIVE.secretKey);
    expect(await checkStripe({ stripe: undefined })).toEqual([]);
  });
});

describe("checkTraces", () => {
  it("warns of a receiver that is dead, or is none", async () => {
    const [good, none] = [await answering(200), await answering(404)];
    expect(await checkTraces({ otlpEndpoint: `${good.url}/` })).toMatchObject([{ name: "traces", status: "ok" }]);
    expect(good.asked).toEqual(["POST /v1/traces"]);
    expect(await checkTraces({ otlpEndpoint: none.url })).toMatchObject([{ status: "warning" }]);
    const dead = await checkTraces({ otlpEndpoint: `http://127.0.0.1:${await freePort()}` });
    expect(dead).toMatchObject([{ status: "warning", message: expect.stringContaining("ECONNREFUSED") }]);
    expect(await checkTraces({ otlpEndpoint: undefined })).toEqual([]);
  });
});
