import { rm } from "node:fs/promises";
import { buildClient, buildMeter } from "./release/bundled-packages.js";
import { buildCore, buildTesting } from "./release/core-packages.js";
import { target } from "./release/manifest.js";
import { buildService } from "./release/service-package.js";

/**
 * `npm run release`: makes five packages from dist/ in dist-packages/. Each installs from the registry alone, without
 * the `overrides` of this project, and compiles nothing.
 *
 * - panorama-core: domain, application, memory adapters
 * - panorama-testing: contract suites for the ports of panorama-core
 * - panorama-client: the typed client, with what it needs inside
 * - panorama-meter: the meter and its stores, with what they need inside
 * - panorama-service: everything, with the `panorama` command
 *
 * What can be imported: the entries that `entries.ts` makes of the modules of `exports` of package.json, and from
 * panorama-service those that no entry has. README.md of each package is in bootstrap/packages/.
 */
await rm(target, { recursive: true, force: true });
await buildCore();
await buildTesting();
await buildClient();
await buildMeter();
await buildService();
