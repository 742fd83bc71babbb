import { resolve } from "node:path";
import { afterEach, expect, it, onTestFinished } from "vitest";
import { FakeHttpProvider, HTTP_TOKEN } from "../support/fake-http-provider.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { Installation } from "../support/service-process.js";

const CLIENTS_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const REPORT = { NODE_OPTIONS: `--import ${resolve("test/support/report-opentelemetry.mjs")}` };

let installation: Installation;
afterEach(() => installation.remove());

it("without OTEL_EXPORTER_OTLP_ENDPOINT nothing of OpenTelemetry is loaded, and traceparent is passed on", async () => {
  const provider = await FakeHttpProvider.start();
  onTestFinished(() => provider.close());
  installation = await migratedInstallation({
    ...REPORT,
    PROVIDER: "http",
    HTTP_PROVIDER_URL: provider.baseUrl,
    HTTP_PROVIDER_TOKEN: HTTP_TOKEN,
    PROVIDER_POLL_MS: "100",
  });
  const { demo_api_key: key } = await installation.start();
  const create = (headers: Record<string, string>) =>
    fetch(`${installation.url}/api/v1/panoramas`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      body: JSON.stringify({ prompt: "A quiet lake at dawn", resolution: "1k" }),
    });
  const traceparent = `00-${CLIENTS_TRACE}-00f067aa0ba902b7-00`;
  expect((await create({ traceparent })).status).toBe(202);
  // The only slot of the worker is taken: this one waits, and is submitted in the background.
  expect((await create({ traceparent: traceparent.replace("4bf9", "5bf9") })).status).toBe(202);
  expect((await create({ traceparent: "00-not-valid-01" })).status).toBe(202);
  provider.plan = "fail";
  const started = async () => provider.server.requests.filter(({ method }) => method === "PUT");
  await expect.poll(async () => (await started()).length).toBe(3);

  expect(await installation.end("SIGTERM")).toBe(0);
  expect(installation.log).not.toContain("@opentelemetry");
  const ids = installation.log
    .split("\n")
    .filter((line) => line.includes('"route":"/api/v1/panoramas"'))
    .map((line) => (JSON.parse(line) as { traceId: string }).traceId);
  expect(ids).toEqual([CLIENTS_TRACE, CLIENTS_TRACE.replace("4bf9", "5bf9"), expect.stringMatching(/^[0-9a-f]{32}$/)]);
  expect((await started()).map(({ headers }) => headers.traceparent)).toEqual([
    traceparent,
    traceparent.replace("4bf9", "5bf9"),
    expect.stringMatching(new RegExp(`^00-${ids[2]}-[0-9a-f]{16}-01$`)),
  ]);
});

it("with OTEL_EXPORTER_OTLP_ENDPOINT the packages are loaded from the bundled command", async () => {
  installation = await migratedInstallation({ ...REPORT, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
  await installation.start();
  expect(await installation.end("SIGTERM")).toBe(0);
  expect(installation.log).toContain("loads @opentelemetry/sdk-trace-base");
});
