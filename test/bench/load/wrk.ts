import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ACCOUNTS, LISTS } from "./data.js";
import { formatted } from "./sent.js";

const run = promisify(execFile);

/** The name of a list with one request for each account. */
export type List = keyof typeof LISTS;

/** `p99`: milliseconds. */
export type Answered = { readonly count: number; readonly seconds: number; readonly p99: number };

/**
 * Sends requests of a list with `wrk`, each connection the next one as soon as it is answered. It takes much less
 * processor time than load-process.ts, which the server under measurement needs. Throws if an answer is no success.
 */
export const sendWithWrk = async (
  seconds: number,
  { origin, requests, connections }: { origin: string; requests: List; connections: number },
): Promise<Answered> => {
  const script = new URL("wrk.lua", import.meta.url).pathname;
  const file = fileOf(requests);
  // Each load begins elsewhere in its list, so that several do not use up the active tasks of the first accounts.
  const first = String(Math.floor(Math.random() * ACCOUNTS));
  const args = ["-t", "1", "-c", String(connections), "-d", String(seconds), "-s", script, origin, "--", file, first];
  const { stdout } = await run("wrk", args);
  const { failed, ...answered } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as Answered & { failed: number };
  if (failed > 0) throw new Error(`${origin}: ${failed} of ${answered.count} answers are no success`);
  return answered;
};

const files = new Map<List, string>();

/** Written once for each list, because 20 MB on their way to the disk would delay the commits that are measured. */
const fileOf = (requests: List): string => {
  const known = files.get(requests);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "panorama-wrk-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "requests");
  const list = Array.from({ length: ACCOUNTS }, (_, index) => formatted(LISTS[requests](index + 1)));
  writeFileSync(file, list.join("\0"));
  files.set(requests, file);
  return file;
};
