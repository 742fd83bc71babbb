import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { afterEach, beforeEach } from "vitest";
import { offerOf } from "../../../adapters/client/offer.js";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { AllowedFolders } from "../../../adapters/mcp/allowed-folders.js";
import { panoramaMcpServer } from "../../../adapters/mcp/panorama-mcp-server.js";
import { UnconfirmedCreations } from "../../../adapters/mcp/unconfirmed-creations.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import { FakeService } from "../../support/fake-service.js";
import { McpSession } from "../../support/mcp-session.js";
import { SkippingClock } from "../../support/skipping-clock.js";

/** What the tests of the MCP server share: a session with a server over a fake service before each test. */
export const setUpMcp = () => {
  let service: FakeService;
  let session: McpSession;
  let clock: SkippingClock;
  let logged: string[];
  let folder: string;

  const sessionWith = async (
    apiKey: string,
    offer = offerOf(PANORAMA_POLICY),
    client = new PanoramaClient({ baseUrl: service.origin, apiKey }, clock, () => 0.5),
  ) => {
    let keys = 0;
    const server = panoramaMcpServer({
      offer,
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
        warn: (line) => logged.push(line),
      }),
      log: (line) => logged.push(line),
    });
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
    await server.connect(serverSide);
    return McpSession.over(clientSide);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-mcp-"));
    await mkdir(join(folder, "allowed"));
    service = await FakeService.start();
    logged = [];
    clock = new SkippingClock(() => service.hanging());
    session = await sessionWith(service.apiKey);
  });
  afterEach(async () => {
    await session.client.close();
    await service.stop();
    await rm(folder, { recursive: true });
  });
  const post = () => service.requests("POST", "/");

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
    sessionWith,
    post,
  };
};

export const aHarbour = { prompt: "a quiet harbour", resolution: "1k" };
