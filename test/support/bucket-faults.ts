import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";

/** A fault of one request to a bucket. A number is the HTTP status of the answer. */
export type BucketFault =
  | number
  /** A proxy's HTML page with status 200 instead of the answer. */
  | "html"
  /** No answer. */
  | "silence"
  /** The correct answer after 100 ms. */
  | "slow"
  /** The connection closes before the request is processed. */
  | "cut-before"
  /** The connection closes after the request is processed, before the answer. */
  | "cut-after"
  /** The connection closes in the middle of the answer. */
  | "cut-within"
  /** The answer stops in the middle; the connection stays open. */
  | "stall"
  /** One byte changes in transit. */
  | "damage"
  /** The answer has the checksums of other bytes. */
  | "wrong-checksum";

export type BucketAnswer = {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
};

export const HTML_PAGE: BucketAnswer = {
  status: 200,
  headers: { "content-type": "text/html" },
  body: Buffer.from("<!doctype html><title>Please log in to this network</title>"),
};

export const deliver = async (
  answer: BucketAnswer,
  response: ServerResponse,
  fault: BucketFault | undefined,
): Promise<void> => {
  if (fault === "cut-after") return void response.destroy();
  if (fault === "slow") await setTimeout(100);
  response.writeHead(answer.status, { ...answer.headers, "content-length": answer.body.length });
  if (fault !== "cut-within" && fault !== "stall") return void response.end(answer.body);
  const half = answer.body.subarray(0, answer.body.length / 2);
  response.write(half, () => {
    if (fault === "cut-within") response.destroy();
  });
};

export const withOneByteChanged = (bytes: Buffer): Buffer => {
  const changed = Buffer.from(bytes);
  changed[0] = (changed[0] ?? 0) ^ 1;
  return changed;
};
