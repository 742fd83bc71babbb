import { join } from "node:path";
import { ContainerModule } from "inversify";
import type { Logger } from "pino";
import { HttpServer } from "../../adapters/http/http-server.js";
import type { MakeServer } from "../../adapters/http/request-source.js";
import { loadServer } from "../../adapters/http/servers/load-server.js";
import { tlsCertificate } from "../../adapters/http/servers/tls-certificate.js";
import { LocalProvider } from "../../adapters/provider/local/local-provider.js";
import { ConfigurationError } from "../command-error.js";
import { type Config, isReachedDirectly } from "../config.js";
import { packedMcpServer } from "../packed-mcp-server.js";
import { provide } from "../provide.js";

import { tokens } from "../tokens.js";

/** The HTTP server with every route. */
export const httpModule = new ContainerModule(({ bind }) => {
  provide(
    bind,
    tokens.httpServer,
    {
      config: tokens.config,
      logger: tokens.logger,
      clock: tokens.clock,
      provider: tokens.provider,
      application: tokens.application,
      web: tokens.web,
      storage: tokens.storage,
      checks: tokens.readinessChecks,
      metrics: tokens.scrape,
      observer: tokens.requestObserver,
      database: tokens.database,
    },
    async ({ config, logger, clock, provider, application, metrics, database, ...parts }) =>
      new HttpServer(
        {
          ...parts,
          ...application,
          makeServer: await makeServer(config, logger),
          clock,
          assets: "stat" in parts.storage ? parts.storage : undefined,
          temporaryImage: provider instanceof LocalProvider ? (name) => provider.temporaryImage(name) : undefined,
          mcpPackage: packedMcpServer(config.publicUrl),
          metrics,
          isDatabaseOverloaded: (kind) => database.isOverloaded(kind),
        },
        {
          host: config.host,
          port: config.port,
          publicUrl: config.publicUrl,
          uploadsFolder: join(config.dataDir, "uploads"),
          trustedProxies: config.trustedProxies,
          tls: await tlsSettings(config, clock.now()),
        },
      ),
  );
});

const makeServer = async (config: Config, logger: Logger): Promise<MakeServer> => {
  const { make, name, reason } = await loadServer(config.httpServer).catch((error: Error) => {
    throw config.httpServer === "native" ? new ConfigurationError(error.message, { cause: error }) : error;
  });
  if (reason !== undefined) {
    logger.warn(
      { event: "native_http_server_unavailable", reason },
      "The native HTTP server cannot be loaded here, so node:http serves: more slowly, otherwise the same. HTTP_SERVER=node chooses it without this warning.",
    );
  }
  if (name === "native" && isReachedDirectly(config)) {
    logger.warn(
      { event: "native_http_server_without_proxy", host: config.host },
      `The native HTTP server listens at ${config.host}, and TRUSTED_PROXIES names no proxy on another machine. It refuses some correct HTTP that is unusual ("Limits of the HTTP server" in bootstrap/deployment/README.md): put a proxy in front, or set HTTP_SERVER=node.`,
    );
  }
  return make;
};

const tlsSettings = async ({ storage, dataDir, publicUrl }: Config, now: Date) =>
  storage.kind === "filesystem" && storage.tlsPort !== undefined
    ? { port: storage.tlsPort, ...(await tlsCertificate(dataDir, new URL(publicUrl).hostname, now)) }
    : undefined;
