import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../support/postgres.js";
import { Installation } from "../support/service-process.js";

const MESSAGE = "We are back at 14:00 UTC.";

describe("panorama maintenance", () => {
  let instances: readonly [Installation, Installation];
  let key: string;

  beforeAll(async () => {
    const environment = { DATABASE_URL: await freshDatabase(), LOCAL_PROVIDER_DELAY_MS: "0" };
    const first = await Installation.create(environment);
    instances = [first, await Installation.create({ ...environment, DATA_DIR: first.dataDir })];
    key = (await first.start()).demo_api_key ?? "";
    await instances[1].start();
  });
  afterAll(() => Promise.all(instances.map((instance) => instance.remove())));

  const send = ({ url }: Installation, path: string, method = "POST", body?: string) =>
    fetch(url + path, { method, headers: { authorization: `Bearer ${key}`, origin: url }, ...(body && { body }) });
  const create = (instance: Installation) =>
    send(
      instance,
      "/api/v1/panoramas",
      "POST",
      JSON.stringify({ prompt: "a quiet lake test:plain", resolution: "1k" }),
    );

  const gallery = async ({ url }: Installation) => (await fetch(`${url}/gallery`)).text();
  /** Kept by the service from its first request on. */
  const docs = async ({ url }: Installation) => (await fetch(`${url}/docs`)).text();

  it("refuses the work of customers on all instances, tells them why, and lets reads go on", async () => {
    const { id } = (await (await create(instances[0])).json()) as { id: string };
    expect(await docs(instances[0])).not.toContain(MESSAGE);
    expect((await instances[0].answer("maintenance", "on", "--message", MESSAGE)).json).toEqual({
      maintenance: true,
      message: MESSAGE,
    });
    for (const instance of instances) {
      await expect.poll(() => gallery(instance), { timeout: 3_000 }).toContain(MESSAGE);
      expect(await docs(instance)).toContain(MESSAGE);
      for (const [method, path] of [
        ["POST", "/api/v1/panoramas"],
        ["POST", "/api/v1/images"],
        ["DELETE", `/api/v1/panoramas/${id}`],
      ] as const) {
        const refused = await send(instance, path, method);
        expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
        expect(await refused.json()).toEqual({
          error: { code: "rate_limited", message: expect.stringContaining(MESSAGE) },
        });
      }
      expect((await send(instance, `/api/v1/panoramas/${id}`, "GET")).status).toBe(200);
      expect((await fetch(`${instance.url}/readyz`)).status).toBe(200);
      const order = await send(instance, "/account/orders");
      expect([order.status, order.headers.get("retry-after")]).toEqual([503, "60"]);
      expect(await order.text()).toContain("Nothing was charged");
      expect((await send(instance, "/login")).status).not.toBe(503);
    }
    await instances[1].answer("maintenance", "off");
    for (const instance of instances) {
      await expect.poll(() => gallery(instance), { timeout: 3_000 }).not.toContain(MESSAGE);
      expect(await docs(instance)).not.toContain(MESSAGE);
      expect((await create(instance)).status).toBe(202);
    }
  });

  it("needs a message that fits on a page", async () => {
    const { error } = await instances[0].answer("maintenance", "on", "--message", " ");
    expect(error?.message).toBe("--message must have 1 to 300 characters.");
  });
});
