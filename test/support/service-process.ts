import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.js";
import { RestClient } from "./rest-client.js";

export const PANORAMA = "dist/bootstrap/panorama.cjs";

export type CommandOutcome = {
  readonly status: number;
  readonly json: Record<string, unknown>;
  readonly stderr: string;
  readonly error: { readonly code: string; readonly message: string } | undefined;
};

/** The compiled command (`dist/`), run in child processes on an empty data directory, as an operator runs it. */
export class Installation {
  readonly environment: NodeJS.ProcessEnv;
  readonly url: string;
  readonly dataDir: string;
  readonly tlsPort: number;
  readonly #logFile: string;
  #process: ChildProcess | undefined;

  private constructor(dataDir: string, port: number, tlsPort: number, environment: Record<string, string>) {
    this.dataDir = dataDir;
    this.#logFile = `${dataDir}.log`;
    this.tlsPort = tlsPort;
    this.url = `http://localhost:${port}`;
    this.environment = {
      PATH: process.env.PATH,
      HTTP_SERVER: process.env.HTTP_SERVER,
      PORT: String(port),
      TLS_PORT: String(tlsPort),
      DATA_DIR: dataDir,
      ...environment,
    };
  }

  /** Without `PORT` in the environment, it listens on a free port. */
  static async create(environment: Record<string, string> = {}): Promise<Installation> {
    const dataDir = await mkdtemp(join(tmpdir(), "panorama-test-"));
    const port = Number(environment.PORT ?? (await freePort()));
    return new Installation(dataDir, port, await freePort(), environment);
  }

  /**
   * What all processes of this installation have written to standard error. A process writes its log in blocks: it is
   * complete once `end("SIGTERM")` has resolved.
   */
  get log(): string {
    return readFileSync(this.#logFile, "utf8");
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Starts `panorama serve`. Resolves when the service is ready, to the JSON that it printed. */
  async start(environment: Record<string, string> = {}): Promise<{
    url: string;
    demo_api_key?: string;
    demo_email?: string;
    demo_password?: string;
    demo_account_id?: string;
  }> {
    // A file, because reading it would take a part of the time that benchmarks measure.
    const log = openSync(this.#logFile, "a");
    const child = spawn(process.execPath, [PANORAMA, "serve", "--json"], {
      env: { ...this.environment, ...environment },
      stdio: ["ignore", "pipe", log],
    });
    closeSync(log);
    this.#process = child;
    return new Promise((resolve, reject) => {
      let printed = "";
      // Only until it is ready: afterwards its log may be longer than a string can be.
      const failed = (code: number | null) => reject(new Error(`the service exited with ${code}: ${this.log}`));
      child.stdout?.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
        if (!printed.endsWith("\n")) return;
        child.off("exit", failed);
        resolve(JSON.parse(printed));
      });
      child.once("exit", failed);
    });
  }

  /** Sends a signal that does not end the process; `end` sends the others. */
  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGUSR2"): void {
    this.#process?.kill(signal);
  }

  /** Sends the signal. Resolves to the exit status or the signal that ended the process, `null` if none is running. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return null;
    const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
      child.once("close", (code, by) => resolve(code ?? by));
    });
    child.kill(signal);
    return ended;
  }

  /** Runs a command with `--json`, whether the service is running or not. `error` is what it prints if it fails. */
  async command(...args: string[]): Promise<CommandOutcome> {
    return this.commandWithInput("", ...args);
  }

  /** Runs a command whose standard input has this text, and is not a terminal. */
  async commandWithInput(input: string, ...args: string[]): Promise<CommandOutcome> {
    const options = { env: this.environment };
    const run = promisify(execFile)(process.execPath, [PANORAMA, ...args, "--json"], options);
    run.child.stdin?.end(input);
    const { status, stdout, stderr } = await run.then(
      (done) => ({ status: 0, ...done }),
      (failed: { code: number; stdout: string; stderr: string }) => ({ ...failed, status: failed.code }),
    );
    return outcomeOf(status, stdout, stderr);
  }

  /** As `command`, from the sources and in this process, which takes a tenth of the time of a new one. */
  async answer(...args: string[]): Promise<CommandOutcome> {
    const { answerTo } = await import("../../bootstrap/answer-to.js");
    const { status, output = "", error = "" } = await answerTo([...args, "--json"], this.environment);
    return outcomeOf(status, output, error);
  }

  /** The JSON that `answer` prints. Throws if the command fails, or warns of something. */
  async run(...args: string[]): Promise<Record<string, unknown>> {
    const { status, json, stderr } = await this.answer(...args);
    if (status !== 0 || stderr !== "") throw new Error(`${args.join(" ")}: status ${status} ${stderr}`);
    return json;
  }

  /** Code and message of a command that must fail, as `answer` prints them: in one line, and nothing else. */
  async refusal(...args: string[]): Promise<readonly [code: string | undefined, message: string]> {
    const { status, json, stderr, error } = await this.answer(...args);
    if (status === 0 || Object.keys(json).length > 0 || stderr.trimEnd().includes("\n")) {
      throw new Error(`${args.join(" ")}: status ${status} ${JSON.stringify(json)} ${stderr}`);
    }
    return [error?.code, error?.message ?? ""];
  }

  /** A new customer with an account of its own. */
  async customer(email: string, credits = 20) {
    const options = ["--email", email, "--credits", String(credits), "--key"];
    const { account_id, api_key } = await this.run("account", "create", ...options);
    const key = String(api_key);
    return { account: String(account_id), key, client: new RestClient(this.url, key) };
  }

  async remove(): Promise<void> {
    await this.end("SIGKILL");
    for (const path of [this.dataDir, this.#logFile]) await rm(path, { recursive: true, force: true });
  }
}

const outcomeOf = (status: number, stdout: string, stderr: string): CommandOutcome => {
  const failure = stderr.trimEnd().split("\n").at(-1) ?? "";
  const { error } = (failure.startsWith("{") ? JSON.parse(failure) : {}) as Pick<CommandOutcome, "error">;
  return { status, json: stdout === "" ? {} : JSON.parse(stdout), stderr, error };
};
