import "reflect-metadata";
import { Container } from "inversify";
import type { Patience } from "../adapters/persistence/database/postgres/open-postgres-database.js";
import type { Config } from "./config.js";
import { persistence, useCasesOnStores } from "./modules/persistence.js";
import { system } from "./modules/system.js";
import type { Token } from "./provide.js";
import { tokens } from "./tokens.js";

/** The wired service. Each part is made at its first request, so a command opens only what it needs. */
export type Service = {
  get<Part>(part: Token<Part>): Promise<Part>;
  /** Adds the parts that only `serve` needs. Importing them takes longer than most commands take. */
  loadServer(): Promise<void>;
  /** Disposes of every part that was made. Stop the HTTP server and the schedule first. */
  close(): Promise<void>;
};

/** With `createsDatabase` the SQLite file is made and migrated when it is opened; without, it must be there. */
export const createService = (
  config: Config,
  { createsDatabase = true, patience = "requests" }: { createsDatabase?: boolean; patience?: Patience } = {},
): Service => {
  const container = new Container();
  container.bind(tokens.config).toConstantValue(config);
  container.bind(tokens.createsDatabase).toConstantValue(createsDatabase);
  container.bind(tokens.patience).toConstantValue(patience);
  container.load(system, persistence, useCasesOnStores);
  return {
    get: (part) => container.getAsync(part),
    loadServer: async () => {
      const { serverModules } = await import("./modules/server.js");
      container.load(...(await serverModules(config)));
    },
    close: () => container.unbindAllAsync(),
  };
};
