import type { Dialect } from "../adapters/provider/remote/dialect.js";
import { fal } from "../adapters/provider/remote/fal/fal.js";
import { http } from "../adapters/provider/remote/http/http.js";
import { replicate } from "../adapters/provider/remote/replicate/replicate.js";
import { skybox } from "../adapters/provider/remote/skybox/skybox.js";
import type { DialectConfig } from "./config.js";

export const dialectOf = (provider: DialectConfig): Dialect => {
  switch (provider.kind) {
    case "skybox":
      return skybox(provider);
    case "replicate":
      return replicate(provider);
    case "fal":
      return fal(provider);
    case "http":
      return http(provider);
  }
};
