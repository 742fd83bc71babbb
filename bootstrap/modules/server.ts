import type { ContainerModule } from "inversify";
import type { Config } from "../config.js";
import { application } from "./application.js";
import { httpModule } from "./http.js";
import { observability } from "./observability.js";
import { outgoing } from "./outgoing.js";
import { storage } from "./storage.js";
import { web } from "./web.js";

/** Bindings that only `serve` needs. Of the providers only the configured kind is loaded. */
export const serverModules = async ({ provider }: Config): Promise<readonly ContainerModule[]> => [
  observability,
  outgoing,
  storage,
  provider.kind === "local"
    ? (await import("./local-provider.js")).localProviderModule(provider)
    : (await import("./remote-providers.js")).remoteProviders(provider),
  application,
  web,
  httpModule,
];
