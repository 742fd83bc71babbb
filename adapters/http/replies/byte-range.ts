/** The offsets of the first and the last byte, both inclusive. */
export type ByteRange = { readonly start: number; readonly end: number };

/**
 * Parses a `Range` header (RFC 9110, 14.2) for a body of `sizeBytes`. Returns "whole" for anything but a single range
 * of bytes: the RFC allows a server to ignore it.
 */
export const byteRange = (header: string | undefined, sizeBytes: number): ByteRange | "whole" | "unsatisfiable" => {
  const [, first = "", last = ""] = /^bytes=\s*([0-9]*)-([0-9]*)\s*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return "whole";
  if (first === "") {
    const start = Math.max(0, sizeBytes - Number(last));
    return start < sizeBytes ? { start, end: sizeBytes - 1 } : "unsatisfiable";
  }
  const start = Number(first);
  const end = last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== "" && Number(last) < start) return "whole";
  return start < sizeBytes ? { start, end } : "unsatisfiable";
};
