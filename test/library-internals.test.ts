import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { KNOWN_HYPER_EXPRESS as OF_HTTP } from "../adapters/http/library-internals.js";
import { KNOWN_PG as OF_PERSISTENCE } from "../adapters/persistence/library-internals.js";

it.each(Object.entries({ ...OF_HTTP, ...OF_PERSISTENCE }))(
  "%s has the version whose internal parts were checked",
  async (library, version) => {
    const manifest = JSON.parse(await readFile(`node_modules/${library}/package.json`, "utf8")) as { version: string };
    expect(manifest.version, `Read what has changed in ${library}, and then write its version there.`).toBe(version);
  },
);
