import type { UseCases } from "../../../application/create-application.js";
import { notFound } from "../../../application/errors.js";
import { imageTypeOf } from "../../../domain/images/image-type.js";
import { FOR_ANY_ORIGIN } from "../../web-page/any-origin.js";
import { shown } from "../../wording/shown.js";
import { errorReply } from "../replies/errors.js";
import type { Handler } from "../router.js";

/** An image that a provider in this process generated; `undefined` if it is unknown or already deleted. */
export type TemporaryImage = (name: string) => Promise<Uint8Array | undefined>;

/**
 * `GET /generations/{name}`: the temporary URLs of a provider that runs in this process. That of a panorama that an
 * operator has hidden is not found.
 */
export function temporaryImageRoute(
  temporaryImage: TemporaryImage,
  isHiddenImage: UseCases["panoramas"]["isHiddenImage"],
  publicUrl: string,
): Handler {
  return async (exchange) => {
    const name = exchange.parameter("name");
    const isShown =
      /^[A-Za-z0-9._-]{1,128}$/.test(name) &&
      !(await isHiddenImage({ temporaryUrl: `${publicUrl}/generations/${name}` }));
    const bytes = isShown ? await temporaryImage(name) : undefined;
    if (bytes === undefined) return errorReply(notFound(`There is no image ${shown(name)}, or it has been deleted.`));
    return {
      status: 200,
      headers: {
        "content-type": imageTypeOf(bytes) ?? "application/octet-stream",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        ...FOR_ANY_ORIGIN,
      },
      body: bytes,
    };
  };
}
