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

/**
 * Sends as many requests as the server answers; resolves to their number per second. Uses `wrk` where it is installed,
 * because it needs a fraction of the processor time; otherwise `autocannon`. Throws if any answer is not 2xx: then the
 * figures would mean nothing.
 */
export const saturate = async (origin: string, requests: readonly LoadRequest[], seconds: number): Promise<number> =>
  (await hasWrk) ? withWrk(origin, requests, seconds) : withAutocannon(origin, requests, seconds);

/** The 99th percentile, in milliseconds, of reads that are sent at a constant rate (paced-reads.ts). */
export const p99OfReads = async (origin: string, seconds: number, perSecond: number): Promise<number> => {
  const script = new URL("paced-reads.ts", import.meta.url).pathname;
  const args = ["--import", "tsx", script, origin, String(seconds), String(perSecond)];
  return Number((await run(process.execPath, args)).stdout);
};

const run = promisify(execFile);
const hasWrk = run("wrk", ["-v"]).then(
  () => true,
  (error: { code: unknown }) => error.code !== "ENOENT", // `wrk -v` exits with 1
);

/** Every request is formatted once, before the load starts. Each thread has a copy of the list; there is one thread. */
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
  return `local formatted, n = {}, 0
function init(args)
${rows.map((row, index) => `  formatted[${index + 1}] = wrk.format(${row})`).join("\n")}
end
function request()
  n = n % ${requests.length} + 1
  return formatted[n]
end
`;
};

const withWrk = async (origin: string, requests: readonly LoadRequest[], seconds: number): Promise<number> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-load-"));
  try {
    const script = join(folder, "requests.lua");
    await writeFile(script, wrkScript(requests));
    const args = ["-t", "1", "-c", String(CONNECTIONS), "-d", `${seconds}s`, "-s", script, origin];
    const { stdout } = await run("wrk", args);
    const failures = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(stdout);
    if (failures !== null) throw new Error(`wrk ${origin}: ${failures[0]}`);
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const withAutocannon = async (origin: string, requests: readonly LoadRequest[], seconds: number): Promise<number> => {
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
  return result.requests.average;
};
