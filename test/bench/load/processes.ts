import { spawn } from "node:child_process";
import { freePort } from "../../support/free-port.js";

/** A helper process that prints a line when it is ready. */
export type Running = { readonly origin: string; readonly pid: number | undefined; stop(): void };

/** Starts a script of test/bench/ with a free port as its first argument; resolves when it has printed a line. */
export const startScript = async (script: string, ...args: readonly string[]): Promise<Running> => {
  const port = await freePort();
  const file = new URL(`../${script}`, import.meta.url).pathname;
  const child = spawn(process.execPath, ["--import", "tsx", file, String(port), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`${script} ended with ${code}`)));
  });
  return { origin: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => child.kill("SIGKILL") };
};
