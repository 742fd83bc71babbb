import { expect, it } from "vitest";
import { mcpPackageRoute } from "../../../../adapters/http/routes/mcp-package-route.js";

it("the MCP package is asked for again at every start, and is not sent to who has it", async () => {
  const handle = mcpPackageRoute({ path: "/mcp/a.tgz", pack: async () => Buffer.from("package") });
  const asked = async (etag?: string) => handle({ header: () => etag } as never);
  const { status, headers } = await asked();
  expect([status, headers["cache-control"]]).toEqual([200, "no-cache"]);
  expect((await asked(headers.etag)).status).toBe(304);
});
