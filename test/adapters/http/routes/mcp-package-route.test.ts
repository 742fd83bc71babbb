import { expect, it } from "vitest";
import { mcpPackageRoute } from "../../../../adapters/http/routes/mcp-package-route.js";

it("the MCP package may be kept for ever, and is not sent again to who has it", async () => {
  const handle = mcpPackageRoute({ path: "/mcp/a.tgz", pack: async () => Buffer.from("package") });
  const asked = async (etag?: string) => handle({ header: () => etag } as never);
  const { status, headers } = await asked();
  expect([status, headers["cache-control"]]).toEqual([200, "public, max-age=31536000, immutable"]);
  expect((await asked(headers.etag)).status).toBe(304);
});
