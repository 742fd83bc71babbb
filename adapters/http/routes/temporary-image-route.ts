import { notFound } from "../../../application/errors.js";
import { imageTypeOf } from "../../../domain/images/image-type.js";
import { shown } from "../../wording/shown.js";
import { errorReply } from "../replies/errors.js";
import type { Handler } from "../routes.js";

/** An image that a provider in this process generated; `undefined` if it is unknown or already deleted. */
export type TemporaryImage = (name: string) => Promise<Uint8Array | undefined>;

/** `GET /generations/{name}`: the temporary URLs of a provider that runs in this process. */
export const temporaryImageRoute =
  (temporaryImage: TemporaryImage): Handler =>
  async (exchange) => {
    const name = exchange.parameter("name");
    const bytes = /^[A-Za-z0-9._-]{1,128}$/.test(name) ? await temporaryImage(name) : undefined;
    if (bytes === undefined) return errorReply(notFound(`There is no image ${shown(name)}, or it has been deleted.`));
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
