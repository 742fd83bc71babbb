import { type ChildProcess, spawn } from "node:child_process";
import { freePort } from "../../support/free-port.js";
import { Installation } from "../../support/service-process.js";

/** A helper process that prints a line when it is ready. */
export type Running = { readonly origin: string; stop(): void };

/** Starts a script of this folder with a free port as an argument; resolves when it has printed a line. */
export const startScript = async (script: string, ...args: readonly string[]): Promise<Running> => {
  const port = await freePort();
  const [first = [], ...others] = [args.slice(0, 1), ...args.slice(1)];
  const file = new URL(script, import.meta.url).pathname;
  const child = spawn(process.execPath, ["--import", "tsx", file, ...first, String(port), ...others.flat()], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await firstLine(child, script);
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.kill("SIGKILL") };
};

/**
 * An installation of the service whose provider answers at once, and is not asked again unless `environment` says so.
 * The service is not started: its database is filled first.
 */
export const installWithInstantProvider = async (
  environment: Record<string, string>,
): Promise<{ service: Installation; upstream: Running }> => {
  const upstream = await startScript("instant-replicate.ts");
  const service = await Installation.create({
    DEMO: "false",
    PROVIDER: "replicate",
    REPLICATE_API_KEY: "r8_bench",
    REPLICATE_BASE_URL: `${upstream.origin}/v1`,
    PROVIDER_CALLS_PER_SECOND: "100000",
    PROVIDER_POLL_MS: "3600000",
    GENERATION_DEADLINE_MS: "36000000",
    ...environment,
  });
  return { service, upstream };
};

const firstLine = (child: ChildProcess, name: string): Promise<void> =>
  new Promise((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}`)));
  });
