import { background } from "./background.js";
import { http } from "./http.js";
import { observability } from "./observability.js";
import { provider } from "./provider.js";
import { storage } from "./storage.js";
import { web } from "./web.js";

/** What only `serve` needs. */
export const serverModules = [observability, storage, provider, background, web, http] as const;
