import { randomUUID } from "node:crypto";
import { homedir, uptime } from "node:os";
import { join } from "node:path";
import { PanoramaClient } from "../adapters/client/panorama-client.js";
import { parseServiceUrl, webSiteOf } from "../adapters/client/service-url.js";
import { AllowedFolders } from "../adapters/mcp/allowed-folders.js";
import { currentOffer } from "../adapters/mcp/current-offer.js";
import { downloadFromWeb } from "../adapters/mcp/download-from-web.js";
import { panoramaMcpServer } from "../adapters/mcp/panorama-mcp-server.js";
import { serveOnStdio } from "../adapters/mcp/serve-on-stdio.js";
import { stateFolder } from "../adapters/mcp/state-folder.js";
import { UnconfirmedCreations } from "../adapters/mcp/unconfirmed-creations.js";
import { SystemClock } from "../adapters/system/system-clock.js";
import { rulePredicate } from "../adapters/wording/rule-predicate.js";
import { useProxy } from "./use-proxy.js";

const log = (line: string) => process.stderr.write(`panorama-mcp: ${line}\n`);

/**
 * Runs the MCP server on stdio until stdin ends, then exits the process. Reads PANORAMA_API_KEY, PANORAMA_BASE_URL,
 * PANORAMA_UPLOAD_DIRS, PANORAMA_STATE_DIR, and HTTPS_PROXY with its companions. Only protocol messages go to stdout;
 * log lines go to stderr.
 */
export const runMcp = async (environment: NodeJS.ProcessEnv, defaultBaseUrl: string): Promise<never> => {
  const baseUrl = parseServiceUrl(environment.PANORAMA_BASE_URL || defaultBaseUrl);
  if (baseUrl.isErr()) return exit(1, `PANORAMA_BASE_URL: ${rulePredicate(baseUrl.error.rule)}`);
  const proxyProblem = await useProxy();
  if (proxyProblem !== undefined) return exit(1, proxyProblem);
  const apiKey = (environment.PANORAMA_API_KEY ?? "").trim();
  // The server starts anyway: a client can list the tools, and each call answers what to do.
  if (apiKey === "") log("PANORAMA_API_KEY is not set: every tool call will fail with invalid_api_key");

  const client = new PanoramaClient({ baseUrl: baseUrl.value, apiKey });
  const servers = panoramaMcpServer({
    offer: currentOffer(client, log),
    client,
    site: webSiteOf(baseUrl.value),
    folders: new AllowedFolders(environment.PANORAMA_UPLOAD_DIRS ?? defaultFolder(), home(), log),
    unconfirmed: unconfirmedCreations(environment, [baseUrl.value, apiKey]),
    clock: new SystemClock(),
    download: downloadFromWeb,
    log,
  });
  try {
    await serveOnStdio(servers, process, log);
    return exit(0);
  } catch (error) {
    return exit(1, `the session failed: ${error instanceof Error ? error.message : String(error)}`);
  }
};

/** Folder whose files may be uploaded, as /mcp says. Only the person creates it and puts files there. */
const defaultFolder = (): string => {
  const folder = home();
  return folder === undefined ? "" : join(folder, "Pictures", "panorama");
};

const unconfirmedCreations = (environment: NodeJS.ProcessEnv, scope: readonly string[]): UnconfirmedCreations => {
  const folder = stateFolder(environment, process.platform, home());
  return new UnconfirmedCreations({
    folder: folder === undefined ? undefined : join(folder, "unconfirmed-creations"),
    scope,
    newIdempotencyKey: randomUUID,
    clock: new SystemClock(),
    processId: process.pid,
    isRunning,
    warn: log,
  });
};

/** `undefined` for a user without a home folder. */
const home = (): string | undefined => {
  try {
    return homedir();
  } catch {
    return undefined;
  }
};

/** No process survives a restart of the machine, after which its id can belong to another one. */
const isRunning = (processId: number, since: Date): boolean => {
  if (since.getTime() < Date.now() - uptime() * 1000) return false;
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

const exit = (status: number, line?: string): never => {
  if (line !== undefined) log(line);
  process.exit(status);
};
