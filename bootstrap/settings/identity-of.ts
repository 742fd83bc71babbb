import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { err, ok, Result } from "neverthrow";
import { accentContrast, CONTRAST_MIN, type Colour, readableAccent } from "../../adapters/web/accent-colours.js";
import type { Identity, Mark } from "../../adapters/web/identity.js";
import { shown } from "./setting-sentence.js";

export const MARK_ERROR =
  "must be an SVG file, a square PNG file of 192 to 1024 pixels, or a text of at most 3 characters";

/** As in the settings file. */
type IdentitySettings = {
  readonly name?: string | undefined;
  readonly mark?: string | undefined;
  readonly accent?: string | undefined;
  readonly accentOnDark?: string | undefined;
};

/** The identity that the settings describe. `folder`: where relative paths begin. */
export const identityOf = (
  { name, mark: markText, ...colours }: IdentitySettings,
  folder: string,
): Result<Identity, string> => {
  const mark = markText === undefined ? ok(undefined) : markOf(markText, folder);
  if (mark.isErr()) return err(`identity.mark is ${shown(markText)}: ${mark.error}`);
  // The schema lets only colours pass.
  const { accent, accentOnDark } = colours as { accent?: Colour; accentOnDark?: Colour };
  const chosen = [
    ["accent", accent, "light"],
    ["accentOnDark", accentOnDark, "dark"],
  ] as const;
  for (const [setting, value, scheme] of chosen) {
    if (value === undefined) continue;
    const found = accentContrast(value, scheme);
    if (found >= CONTRAST_MIN) continue;
    return err(
      `identity.${setting} is ${shown(value)}: must be ${scheme === "light" ? "darker" : "lighter"}, such as ${readableAccent(value, scheme)}, because its contrast on a ${scheme} background is ${oneDecimal(found)}, and text needs ${CONTRAST_MIN} (WCAG 2.2 AA)`,
    );
  }
  if (accent === undefined && accentOnDark !== undefined) {
    return err(`identity.accentOnDark is ${shown(accentOnDark)}: must be omitted without identity.accent`);
  }
  const accents = accent && { onLight: accent, onDark: accentOnDark ?? readableAccent(accent, "dark") };
  return ok({ name, mark: mark.value, accent: accents });
};

/** Rounded down: what is missing must be seen. */
const oneDecimal = (value: number): number => Math.floor(value * 10) / 10;

const MARK_BYTES_MAX = 256 * 1024;

/** The name of a file, or the text itself. */
const markOf = (text: string, folder: string): Result<Mark, string> => {
  const extension = /\.(svg|png)$/i.exec(text)?.[1]?.toLowerCase();
  if (extension === undefined) {
    return [...new Intl.Segmenter().segment(text)].length <= 3 ? ok({ kind: "text", text }) : err(MARK_ERROR);
  }
  const read = Result.fromThrowable(
    () => readFileSync(resolve(folder, text)),
    (error) => `the file cannot be read: ${(error as Error).message}`,
  );
  return read().andThen((content): Result<Mark, string> => {
    if (content.length > MARK_BYTES_MAX) return err("must be a file of at most 256 KiB");
    if (extension === "svg") {
      return /<svg[\s>]/.test(content.toString("utf8")) ? ok({ kind: "svg", content }) : err(MARK_ERROR);
    }
    const pixels = squarePngPixels(content);
    return pixels === undefined ? err(MARK_ERROR) : ok({ kind: "png", content, pixels });
  });
};

/** Signature, length and name of the first chunk, then width and height. */
const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");

const squarePngPixels = (content: Buffer): number | undefined => {
  if (content.length < 24 || !content.subarray(0, 16).equals(PNG_START)) return undefined;
  const [width, height] = [content.readUInt32BE(16), content.readUInt32BE(20)];
  return width === height && width >= 192 && width <= 1024 ? width : undefined;
};
