import { Agent, fetch } from "undici";
import { expect, it } from "vitest";
import { freePort } from "../support/free-port.js";
import { Nginx } from "../support/nginx.js";

it("bootstrap/deployment/nginx.conf is accepted by nginx, and refuses a flood from one address with 429", async () => {
  const nowhere = Array.from({ length: 3 }, async () => `127.0.0.1:${await freePort()}`);
  const proxy = await Nginx.start(await Promise.all(nowhere), true);
  const client = new Agent({ connect: { ca: proxy.certificate }, connections: 20 });
  const statuses = await Promise.all(
    Array.from({ length: 900 }, async () => (await fetch(proxy.url, { dispatcher: client })).status),
  );
  await client.close();
  await proxy.remove();
  expect(new Set(statuses)).toEqual(new Set([502, 429]));
  expect(statuses.filter((status) => status === 502).length).toBeGreaterThanOrEqual(200);
});
