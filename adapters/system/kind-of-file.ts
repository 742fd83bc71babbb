type Kind = readonly [pattern: RegExp, words: string];

/** By the beginning of the file, one character for each byte. */
const KINDS: readonly Kind[] = [
  [/^$/, "empty"],
  [/^.{4}ftyp.{0,24}avi[fs]/s, "an AVIF picture"],
  [/^.{4}ftyp(he|mi|ms)/s, "a HEIC picture"],
  [/^.{4}(ftyp|moov)/s, "a video"],
  [/^GIF8/, "a GIF picture"],
  [/^BM.{4}\0{4}/s, "a BMP picture"],
  [/^(II[*+]\0|MM\0[*+])/, "a TIFF or raw picture"],
  [/^(\xff\n|\0{3}.JXL )/s, "a JPEG XL picture"],
  [/^\0{3}.jP {2}/s, "a JPEG 2000 picture"],
  [/^(v\/1|#\?R)/, "an HDR picture"],
  [/^%PDF/, "a PDF document"],
  [/^(PK|[^ -~]\x8b)/, "a compressed file"],
  // A comment in one way only: many of them would else be tried in all combinations.
  [/^(<\?xml[^>]*>|<!--((?!-->).)*-->|<!doctype svg[^>]*>|\s)*<svg\b/is, "an SVG picture"],
  [/^\s*(?=<).*?<(!doctype html|html|head|body|title|meta|script)\b/is, "an HTML page (such as a login)"],
  [/^\s*<[?\w]/, "an XML document"],
  [/^\s*[[{]\s*["\]}[{]/, "a JSON document"],
];

const BEGINNING_BYTES = 1024;

/** What a file is that is neither JPEG, PNG nor WebP, such as "a HEIC picture"; `undefined` if it is not known. */
export const kindOfFile = (bytes: Uint8Array): string | undefined => {
  const text = Buffer.from(bytes.subarray(0, BEGINNING_BYTES)).toString("latin1");
  const readable = /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(text) ? text.replace(/^(\xef\xbb\xbf|..)|\0/gs, "") : text;
  return KINDS.find(([pattern]) => pattern.test(readable))?.[1];
};
