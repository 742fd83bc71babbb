import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Rig } from "../rig.js";
import type { Asked, Load, Outcome } from "./load-process.js";

/** A process that sends one load at a time. */
export class LoadGenerator {
  readonly #ask: (asked: Asked) => Promise<unknown>;

  private constructor(ask: (asked: Asked) => Promise<unknown>) {
    this.#ask = ask;
  }

  static async start(rig: Rig): Promise<LoadGenerator> {
    const child = fork(new URL("load-process.ts", import.meta.url), { execArgv: ["--import", "tsx"] });
    rig.defer(() => child.kill("SIGKILL"));
    await once(child, "message");
    return new LoadGenerator(async (asked) => {
      const answer = once(child, "message");
      child.send(asked);
      return (await answer)[0];
    });
  }

  async begin(load: Load): Promise<void> {
    await this.#ask({ start: load });
  }

  /** How many answers have come. */
  async answered(): Promise<number> {
    return (await this.#ask("answered")) as number;
  }

  async end(how: "at once" | "patiently"): Promise<Outcome> {
    return (await this.#ask({ end: how })) as Outcome;
  }

  /** The load for so many seconds, and until all of it is answered. */
  async during(seconds: number, load: Load): Promise<Outcome> {
    await this.begin(load);
    await setTimeout(seconds * 1_000);
    return this.end("patiently");
  }
}
