import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { type ServeStdioOptions, serveStdio } from "@modelcontextprotocol/server/stdio";
import { afterEach, beforeEach } from "vitest";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { AllowedFolders } from "../../../adapters/mcp/allowed-folders.js";
import { currentOffer } from "../../../adapters/mcp/current-offer.js";
import { downloadFromWeb } from "../../../adapters/mcp/download-from-web.js";
import { type McpDependencies, panoramaMcpServer } from "../../../adapters/mcp/panorama-mcp-server.js";
import { UnconfirmedCreations } from "../../../adapters/mcp/unconfirmed-creations.js";
import { FakeService } from "../../support/fake-service.js";
import { McpSession, type Revision } from "../../support/mcp-session.js";
import { SkippingClock } from "../../support/skipping-clock.js";

/** What the tests of the MCP server share: a session with a server over a fake service before each test. */
export const setUpMcp = (revision: Revision = "2025-11-25") => {
  let service: FakeService;
  let session: McpSession;
  let clock: SkippingClock;
  let logged: string[];
  let folder: string;

  const servers = (
    apiKey: string,
    client = new PanoramaClient({ baseUrl: service.origin, apiKey }, clock, () => 0.5),
    differences: Partial<McpDependencies> = {},
  ) => {
    let keys = 0;
    const log = (line: string) => logged.push(line);
    return panoramaMcpServer({
      offer: currentOffer(client, log),
      client,
      site: service.origin,
      folders: new AllowedFolders(join(folder, "allowed")),
      unconfirmed: new UnconfirmedCreations({
        folder: join(folder, "state"),
        scope: [service.origin, apiKey],
        newIdempotencyKey: () => `key-${++keys}`,
        clock,
        processId: 1,
        isRunning: () => true,
        warn: log,
      }),
      clock,
      download: downloadFromWeb,
      log,
      ...differences,
    });
  };
  /** The client's end of a connection to a new server. */
  const connect = (...given: Parameters<typeof servers>) => {
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
    serveStdio(servers(...given), { transport: serverSide as NonNullable<ServeStdioOptions["transport"]> });
    return clientSide;
  };
  const sessionWith = (...given: Parameters<typeof connect>) => McpSession.over(connect(...given), revision);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-mcp-"));
    await mkdir(join(folder, "allowed"));
    service = await FakeService.start();
    logged = [];
    clock = new SkippingClock((signal) => service.hanging(signal));
    session = await sessionWith(service.apiKey);
  });
  afterEach(async () => {
    await session.client.close();
    await service.stop();
    await rm(folder, { recursive: true });
  });
  const post = () => service.requests("POST", "/");
  /** What was done with the arguments, besides reading the prices. */
  const sent = () => service.received.filter(({ path }) => path !== "/api/v1/openapi.json");

  return {
    get service() {
      return service;
    },
    get session() {
      return session;
    },
    get clock() {
      return clock;
    },
    get logged() {
      return logged;
    },
    get folder() {
      return folder;
    },
    servers,
    connect,
    sessionWith,
    post,
    sent,
  };
};

export const aHarbour = { prompt: "a quiet harbour", resolution: "1k" };
