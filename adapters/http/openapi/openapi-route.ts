import { createHash } from "node:crypto";
import type { ViewerUrl } from "../../../application/application-settings.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import type { Abilities } from "../../../domain/tasks/abilities.js";
import { isCached, keptFor } from "../../web-page/cache-headers.js";
import { type Coding, codingFor, compress } from "../replies/compression.js";
import type { Handler } from "../router.js";

type Parts = {
  readonly panoramas: { readAbilities(): Abilities };
  readonly policy: PanoramaPolicy;
  readonly referenceRetentionHours?: number | undefined;
  readonly viewerUrl?: ViewerUrl | undefined;
};

type Version = "3.0" | "3.1";

/**
 * `GET /api/v1/openapi.json` and `GET /api/v1/openapi-3.0.json`. The document and its generator are loaded at the first
 * request; each compressed form is made once. Both are made again if the abilities have changed. Clients may keep the
 * document, and ask whether it is still the same.
 */
export const openApiRoute = (version: Version, origin: string, parts: Parts): Handler => {
  const { readAbilities } = parts.panoramas;
  const made = keptFor((abilities: Abilities) => describe(version, origin, parts, abilities));
  return async (exchange) => {
    const acceptEncoding = exchange.header("accept-encoding");
    const known = exchange.header("if-none-match");
    const { text, digest, forms } = await made(readAbilities());
    const coding = codingFor(acceptEncoding);
    const etag = `"${digest}${coding === undefined ? "" : `-${coding}`}"`;
    if (coding !== undefined) forms[coding] ??= compress(text, coding, 9);
    return {
      status: isCached(known, etag) ? 304 : 200,
      headers: {
        "content-type": "application/json",
        "cache-control": "no-cache",
        "access-control-allow-origin": "*",
        vary: "accept-encoding",
        etag,
        ...(coding !== undefined && { "content-encoding": coding }),
      },
      body: coding === undefined ? text : await forms[coding],
    };
  };
};

type Description = {
  readonly text: string;
  readonly digest: string;
  readonly forms: Partial<Record<Coding, Promise<Buffer>>>;
};

const describe = async (
  version: Version,
  origin: string,
  { policy, referenceRetentionHours, viewerUrl }: Parts,
  abilities: Abilities,
): Promise<Description> => {
  const { openApiDocument } = await import("./openapi-document.js");
  const { openApi30 } = await import("./openapi-30.js");
  const document = openApiDocument(origin, policy, abilities, {
    unusedHours: referenceRetentionHours,
    hasViewer: viewerUrl !== undefined,
  });
  const text = JSON.stringify(version === "3.0" ? openApi30(document) : document);
  return { text, digest: createHash("sha256").update(text).digest("hex").slice(0, 16), forms: {} };
};
