import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import type { Plugin } from "esbuild";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { restRoutes } from "../../../adapters/http/embedded-routes.js";
import { startChromium } from "../../support/chromium.js";
import { HttpService } from "../../support/http-service.js";
import { builtPage, usePage } from "../../support/page-example.js";

/** panorama-client is made from these sources. */
const fromSources: Plugin = {
  name: "panorama-client from sources",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^panorama-client$/ }, () => ({ path: resolve("adapters/client/panorama-client.ts") }));
  },
};

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());

it("the typed client creates a panorama from a browser page that the same server serves", async () => {
  const service = await HttpService.start();
  const { key } = await service.customer();
  const routes = await restRoutes(service.application, { publicUrl: "https://example.com", storage: service.storage });
  const { html, script } = await builtPage("test/examples/embedding/page.ts", [fromSources]);
  const server = createServer((request, response) =>
    routes.handle(request, response, () => {
      const isScript = request.url === "/page.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      response.end(isScript ? script : html);
    }),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  const { image, problems } = await usePage(browser, url, key, () => service.settle());
  expect(image).toBe(service.storage.urlOf([...service.storage.objects.keys()][0]!));
  expect(problems).toEqual([]);
  server.close();
  await routes.stop(1_000);
  server.closeAllConnections();
  await service.end();
});
