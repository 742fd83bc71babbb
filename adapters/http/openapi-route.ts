import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { json } from "./reply.js";
import type { Handler } from "./routes.js";

/** `GET /api/v1/openapi.json`. The document and its generator are loaded at the first request. */
export const openApiRoute = (origin: string, policy: PanoramaPolicy): Handler => {
  let description: object | undefined;
  return async () => {
    const { openApiDocument } = await import("./openapi-document.js");
    description ??= openApiDocument(origin, policy);
    return json(200, description, { "access-control-allow-origin": "*" });
  };
};
