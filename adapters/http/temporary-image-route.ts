import { notFound } from "../../application/errors.js";
import { imageTypeOf } from "../../domain/image-type.js";
import { shown } from "../wording/shown.js";
import { errorReply } from "./errors.js";
import type { Handler } from "./listener.js";

/** The result of a generation that this very process has made; `undefined` if there is none (any more). */
export type TemporaryImage = (name: string) => Promise<Uint8Array | undefined>;

/** `GET /generations/{name}`: where a provider that runs in this process has its temporary URLs. */
export const temporaryImageRoute =
  (temporaryImage: TemporaryImage): Handler =>
  async (exchange) => {
    const name = exchange.parameter("name");
    const bytes = /^[A-Za-z0-9._-]{1,128}$/.test(name) ? await temporaryImage(name) : undefined;
    if (bytes === undefined) return errorReply(notFound(`There is no image ${shown(name)}, or not any more.`));
    return {
      status: 200,
      headers: {
        "content-type": imageTypeOf(bytes) ?? "application/octet-stream",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "access-control-allow-origin": "*",
      },
      body: bytes,
    };
  };
