import "reflect-metadata";
import { Container } from "inversify";
import type { Config } from "./config.js";
import type { Token } from "./provide.js";
import { provideAdapters } from "./provide-adapters.js";
import { providePages } from "./provide-pages.js";
import { provideProviders } from "./provide-providers.js";
import { provideServer } from "./provide-server.js";
import { provideUseCases } from "./provide-use-cases.js";
import { T } from "./tokens.js";

/** The wired service: its parts are made when they are first asked for, so a command opens only what it needs. */
export type Service = {
  get<Part>(part: Token<Part>): Promise<Part>;
  /** Ends every part that was made. Server and schedule are stopped before. */
  close(): Promise<void>;
};

export const createService = (config: Config): Service => {
  const container = new Container();
  container.bind(T.config).toConstantValue(config);
  provideAdapters(container);
  provideProviders(container);
  provideUseCases(container);
  providePages(container);
  provideServer(container);
  return {
    get: (part) => container.getAsync(part),
    close: () => container.unbindAllAsync(),
  };
};
