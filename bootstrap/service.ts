import "reflect-metadata";
import { Container } from "inversify";
import type { Config } from "./config.js";
import type { Token } from "./provide.js";
import { provideAdapters } from "./provide-adapters.js";
import { provideUseCases } from "./provide-use-cases.js";
import { tokens } from "./tokens.js";

/** The wired service: its parts are made when they are first asked for, so a command opens only what it needs. */
export type Service = {
  get<Part>(part: Token<Part>): Promise<Part>;
  /** Adds the parts that only serving needs: loading them takes longer than most commands. */
  loadServer(): Promise<void>;
  /** Ends every part that was made. Server and schedule are stopped before. */
  close(): Promise<void>;
};

export const createService = (config: Config): Service => {
  const container = new Container();
  container.bind(tokens.config).toConstantValue(config);
  provideAdapters(container);
  provideUseCases(container);
  return {
    get: (part) => container.getAsync(part),
    loadServer: async () => {
      const { provideProviders } = await import("./provide-providers.js");
      const { providePages } = await import("./provide-pages.js");
      const { provideServer } = await import("./provide-server.js");
      provideProviders(container);
      providePages(container);
      provideServer(container);
    },
    close: () => container.unbindAllAsync(),
  };
};
