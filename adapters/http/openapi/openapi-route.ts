import { createHash } from "node:crypto";
import type { ViewerUrl } from "../../../application/application-settings.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import type { Abilities } from "../../../domain/tasks/abilities.js";
import { isCached } from "../../web-page/is-cached.js";
import { keptFor } from "../../web-page/kept-for.js";
import { type Coding, codingFor, compress } from "../replies/compression.js";
import type { Handler } from "../routes.js";

type Parts = {
  readonly panoramas: { readAbilities(): Abilities };
  readonly policy: PanoramaPolicy;
  readonly referenceRetentionHours?: number | undefined;
  readonly viewerUrl?: ViewerUrl | undefined;
};

/**
 * `GET /api/v1/openapi.json`. The document and its generator are loaded at the first request; each compressed form is
 * made once. Both are made again if the abilities have changed. Clients may keep the document, and ask whether it is
 * still the same.
 */
export const openApiRoute = (origin: string, parts: Parts): Handler => {
  const { readAbilities } = parts.panoramas;
  const made = keptFor((abilities: Abilities) => describe(origin, parts, abilities));
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
  origin: string,
  { policy, referenceRetentionHours, viewerUrl }: Parts,
  abilities: Abilities,
): Promise<Description> => {
  const { openApiDocument } = await import("./openapi-document.js");
  const text = JSON.stringify(
    openApiDocument(origin, policy, abilities, referenceRetentionHours, viewerUrl !== undefined),
  );
  return { text, digest: createHash("sha256").update(text).digest("hex").slice(0, 16), forms: {} };
};
