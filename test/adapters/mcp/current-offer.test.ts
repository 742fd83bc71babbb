import { describe, expect, it } from "vitest";
import { USUAL_OFFER } from "../../support/fake-service.js";
import { aHarbour, setUpMcp } from "./mcp-setup.js";

const on = setUpMcp();

describe("the prices of the MCP tools", () => {
  const dear = { ...USUAL_OFFER, prices: { "1k": 40, "2k": 60, "4k": 90 } };
  const text = async () => {
    const { tools } = await on.session.client.listTools();
    return tools.find(({ name }) => name === "get_credit_balance")?.description;
  };
  const create = () => on.session.error("generate_panorama_from_text", { ...aHarbour, max_credits: 10 });

  it("follow the service at each use", async () => {
    expect(await text()).toContain("costs 4 (1k)");
    on.service.offer = dear;
    expect(await text()).toContain("costs 40 (1k)");
    expect(await create()).toMatchObject({ code: "budget_exceeded", message: expect.stringContaining("40 credits") });
    on.service.offer = USUAL_OFFER;
    expect(await create()).toBeUndefined();
  });

  it("keep the last known values while the service does not answer", async () => {
    on.service.offer = dear;
    await text();
    on.service.failNext("GET", "/openapi.json", { kind: "hang" }, { kind: "answer", status: 502, body: "<html>" });
    expect(await text()).toContain("costs 40 (1k)");
    expect(await text()).toContain("costs 40 (1k)");
    expect(on.logged.filter((line) => line.startsWith("the prices"))).toHaveLength(1);
    const body = JSON.stringify({ "x-panorama": { prices: { "1k": "free" }, uploads: {} } });
    on.service.failNext("GET", "/openapi.json", { kind: "answer", status: 200, body });
    expect(await text()).toContain("costs 40 (1k)");
  });

  it("are compared again by the service in case of a change", async () => {
    const message = "max_credits: is 10, but this panorama costs 40 credits; nothing was reserved.";
    const body = JSON.stringify({ error: { code: "invalid_request", message, param: "max_credits" } });
    on.service.failNext("POST", "/panoramas", { kind: "answer", status: 400, body });
    expect(await create()).toMatchObject({ code: "budget_exceeded", message });
    expect(JSON.parse(String(on.post()[0]?.body))).toMatchObject({ max_credits: 10 });
  });
});
