import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { type ServeStdioOptions, serveStdio } from "@modelcontextprotocol/server/stdio";
import { onTestFinished } from "vitest";
import { PanoramaClient } from "../../adapters/client/panorama-client.js";
import { AllowedFolders } from "../../adapters/mcp/allowed-folders.js";
import { downloadFromWeb } from "../../adapters/mcp/download-from-web.js";
import { panoramaMcpServer } from "../../adapters/mcp/panorama-mcp-server.js";
import { UnconfirmedCreations } from "../../adapters/mcp/unconfirmed-creations.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { USUAL_OFFER } from "./fake-service.js";
import { McpSession } from "./mcp-session.js";

/** A session with an MCP server in this process, which calls the service with the key. Ends with the test. */
export const mcpOverService = async (service: { readonly url: string }, apiKey: string): Promise<McpSession> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-mcp-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const clock = new SystemClock(); // with one that does not wait, each call ends in its time limit
  const log = () => {};
  const servers = panoramaMcpServer({
    offer: async () => USUAL_OFFER,
    client: new PanoramaClient({ baseUrl: service.url, apiKey }, clock, () => 0.5),
    site: service.url,
    folders: new AllowedFolders(""),
    unconfirmed: new UnconfirmedCreations({
      folder,
      scope: [service.url, apiKey],
      newIdempotencyKey: () => "mcp-key",
      clock,
      processId: 1,
      isRunning: () => true,
      warn: log,
    }),
    clock,
    download: downloadFromWeb,
    log,
  });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  serveStdio(servers, { transport: serverSide as NonNullable<ServeStdioOptions["transport"]> });
  const session = await McpSession.over(clientSide);
  onTestFinished(() => session.client.close());
  return session;
};
