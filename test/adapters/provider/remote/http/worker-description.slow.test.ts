import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("the OpenAPI description of a worker passes the linter without errors", async () => {
  const description = "test/examples/http-provider/openapi.json";
  const lint = ["lint", "--extends=recommended", "--format=json", description];
  // A worker runs where the operator starts it, so its address is an example.
  const skipped = ["--skip-rule=no-server-example.com"];
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { stdout } = await promisify(execFile)("node_modules/.bin/redocly", [...lint, ...skipped], { env });
  expect(JSON.parse(stdout.slice(stdout.indexOf("{"))).problems).toEqual([]);
});
