import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import autocannon from "autocannon";

/** One request of a load; the generator sends them in order, again and again. */
export type LoadRequest = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

const CONNECTIONS = 32;

/** `p99Milliseconds`: the 99th percentile of the response times. */
export type Load = { readonly perSecond: number; readonly p99Milliseconds: number };

/**
 * Sends as many requests as the server answers. Uses `wrk` where it is installed,
 * because it needs a fraction of the processor time; otherwise `autocannon`. Throws if any answer is not 2xx: then the
 * figures would mean nothing.
 */
export const saturate = async (origin: string, requests: readonly LoadRequest[], seconds: number): Promise<Load> =>
  (await hasWrk) ? withWrk(origin, requests, seconds) : withAutocannon(origin, requests, seconds);

/**
 * The 99th percentile of the response times, in milliseconds, while each of the connections pauses between its requests
 * so that all together send about `perSecond`. Needs `wrk`: a load generator in JavaScript would take the processor
 * time of the server that it measures.
 */
export const p99 = async (
  origin: string,
  requests: readonly LoadRequest[],
  seconds: number,
  { perSecond, connections }: { readonly perSecond: number; readonly connections: number },
): Promise<number> => {
  const pauseMilliseconds = Math.round((connections / perSecond) * 1000);
  const script = `${wrkScript(requests)}function delay() return ${pauseMilliseconds} end\n`;
  return p99Of(await runWrk(origin, script, seconds, connections));
};

const UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

/** Of what `wrk` has printed, in milliseconds. */
const p99Of = (output: string): number => {
  const found = /99%\s+([\d.]+)(us|ms|s)/.exec(output);
  return Number(found?.[1]) * (UNITS[found?.[2] ?? ""] ?? Number.NaN);
};

const run = promisify(execFile);

/** Whether `wrk` is installed. */
export const hasWrk: Promise<boolean> = run("wrk", ["-v"]).then(
  () => true,
  (error: { code: unknown }) => error.code !== "ENOENT", // `wrk -v` exits with 1
);

const ROWS_OF_PART = 5_000;

/**
 * Every request is formatted once, before the load starts. Each thread has a copy of the list; there is one thread.
 * Each run begins elsewhere in the list, so that several runs of creations do not use up the active tasks of the first
 * accounts.
 */
const wrkScript = (requests: readonly LoadRequest[]): string => {
  const text = (value: string | undefined) =>
    value === undefined ? "nil" : JSON.stringify(value).replace(/\\u/g, "\\\\u");
  const table = (headers: LoadRequest["headers"]) =>
    `{${Object.entries(headers)
      .map(([name, value]) => `[${text(name)}]=${text(value)}`)
      .join(",")}}`;
  const rows = requests.map(({ method, path, headers, body }) =>
    [text(method), text(path), table(headers), text(body)].join(","),
  );
  const lines = rows.map((row, index) => `  formatted[${index + 1}] = wrk.format(${row})`);
  // A function of Lua has at most 65,536 constants.
  const parts = Array.from({ length: Math.ceil(lines.length / ROWS_OF_PART) }, (_, part) =>
    lines.slice(part * ROWS_OF_PART, (part + 1) * ROWS_OF_PART).join("\n"),
  );
  return `local formatted, n = {}, 0
${parts.map((part, index) => `local function part${index}()\n${part}\nend`).join("\n")}
function init(args)
  math.randomseed(os.time())
  n = math.random(${requests.length})
${parts.map((_, index) => `  part${index}()`).join("\n")}
end
function request()
  n = n % ${requests.length} + 1
  return formatted[n]
end
`;
};

const withWrk = async (origin: string, requests: readonly LoadRequest[], seconds: number): Promise<Load> => {
  const output = await runWrk(origin, wrkScript(requests), seconds);
  return { perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]), p99Milliseconds: p99Of(output) };
};

/** Resolves to what `wrk` prints. */
const runWrk = async (origin: string, script: string, seconds: number, connections = CONNECTIONS): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-load-"));
  try {
    const file = join(folder, "requests.lua");
    await writeFile(file, script);
    const args = ["-t", "1", "-c", String(connections), "-d", `${seconds}s`, "--latency", "-s", file, origin];
    const { stdout } = await run("wrk", args);
    const failures = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(stdout);
    if (failures !== null) throw new Error(`wrk ${origin}: ${failures[0]}`);
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const withAutocannon = async (origin: string, requests: readonly LoadRequest[], seconds: number): Promise<Load> => {
  let connection = 0;
  const result = await autocannon({
    url: origin,
    connections: CONNECTIONS,
    duration: seconds,
    setupClient: (client) => {
      // Each connection starts elsewhere in the list, so that no two use the same key at the same time.
      const start = Math.floor((connection * requests.length) / CONNECTIONS);
      connection += 1;
      client.setRequests([...requests.slice(start), ...requests.slice(0, start)].slice(0, 2_000) as never);
    },
  });
  if (result.non2xx + result.errors > 0) {
    throw new Error(`autocannon ${origin}: ${result.non2xx} answers were not 2xx, ${result.errors} errors`);
  }
  return { perSecond: result.requests.average, p99Milliseconds: result.latency.p99 };
};
