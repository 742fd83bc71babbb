import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { acceptsCoding } from "../../web-page/cache-headers.js";

/**
 * Only pages for visitors are compressed: pages of members have the form token, whose text an attacker could guess from
 * the compressed length (BREACH).
 */
export type Coding = "br" | "gzip";

/** The smaller one of the codings that an Accept-Encoding header allows; `undefined` if it allows none. */
export const codingFor = (acceptEncoding: string | undefined): Coding | undefined =>
  (["br", "gzip"] as const).find((coding) => acceptsCoding(acceptEncoding, coding));

/** Shorter texts fit into one packet anyway. */
export const COMPRESSED_BYTES_MIN = 1_200;

/** Brotli's `quality`: 4 for an answer that is made per request, 9 for a shared one. Does not block the process. */
export const compress = (text: string, coding: Coding, quality: 4 | 9): Promise<Buffer> =>
  coding === "gzip"
    ? promisify(gzip)(text, { level: quality })
    : promisify(brotliCompress)(text, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: quality,
          [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
          [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
        },
      });

/** 256 KiB, more than any text here: the default reserves 4 MiB. */
const WINDOW_BITS = 18;
