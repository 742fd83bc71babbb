import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.js";
import { PackedProject } from "../support/packed-project.js";
import { freshDatabase } from "../support/postgres.js";

const SERVICE = "test/examples/transcoding/service.ts";
const METER = "test/examples/embedding/meter-on-postgres.ts";
/** The wall clock of the second process is ahead by more than the 60 seconds of a hold. */
const AHEAD_MILLISECONDS = [0, 90_000] as const;
const KILLS = 6;
const ACCOUNTS = ["acme", "globex", "initech"] as const;
const BOUGHT = 150;

const VIDEOS = Array.from({ length: 12 }, (_, n) => ({
  video: `${n % 7 === 0 ? "broken" : n % 3 === 0 ? "short" : "full"}-${n}.mp4`,
  minutes: 1 + (n % 9),
}));
const creditsOf = ({ video, minutes }: (typeof VIDEOS)[number]): number => {
  if (video.startsWith("broken")) return 0;
  return 2 * (video.startsWith("short") ? minutes - 1 : minutes);
};

describe("products of a stranger with the packed meter on PostgreSQL", () => {
  let project: PackedProject;
  let pool: Pool;
  let processes: Process[];

  beforeAll(async () => {
    project = await PackedProject.with(["panorama-service"], ["pg", "@types/pg", "@types/node"]);
    const url = await freshDatabase();
    pool = new Pool({ connectionString: url });
    await project.compile([SERVICE, METER], ["--skipDefaultLibCheck"]);
    processes = await Promise.all(AHEAD_MILLISECONDS.map((ahead) => Process.start(project, url, ahead)));
  });
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.kill()));
    await pool.end();
    await project.remove();
  });

  it("commit a hold together with a row of the program", async () => {
    const env = { ...process.env, DATABASE_URL: await freshDatabase() };
    const output = await project.output("meter-on-postgres.js", env);
    expect(output).toEqual({ third: "insufficient_credits", jobs: 2, balance: 7 });
  });

  it("charge every video once, on two killed processes with clocks 90 seconds apart", async () => {
    const post = async (path: string, body: object, key = ""): Promise<Answer> => {
      for (;;) {
        const { origin } = processes[Math.floor(2 * Math.random())] as Process;
        const request = { method: "POST", headers: { "idempotency-key": key }, body: JSON.stringify(body) };
        const answer = await fetch(`${origin}${path}`, request).then(
          (response) => (response.status === 500 ? undefined : response.json()),
          () => undefined,
        );
        if (answer !== undefined) return answer as Answer;
        await setTimeout(50); // the answer was lost: once more, perhaps at the other process
      }
    };
    const buy = (account: string) => post("/payments", { account, order: "order-1", credits: BOUGHT });
    const jobs = new Map<string, Set<string>>();
    const order = async (account: string, { video, minutes }: (typeof VIDEOS)[number]): Promise<void> => {
      for (;;) {
        const { job, error } = await post("/jobs", { account, video, minutes }, video);
        if (job !== undefined) {
          const known = jobs.get(`${account} ${video}`) ?? new Set();
          jobs.set(`${account} ${video}`, known.add(job));
          return;
        }
        expect(error).toBe("too_many_active_tasks");
        await setTimeout(50);
      }
    };
    const customer = async (account: string): Promise<void> => {
      await Promise.all([buy(account), buy(account), buy(account)]);
      for (const video of VIDEOS) await Promise.all([order(account, video), order(account, video)]);
    };
    let isOpen = true;
    const killing = (async () => {
      for (let kills = 0; kills < KILLS || isOpen; kills += 1) {
        await setTimeout(Math.random() * 700);
        await (processes[kills % 2] as Process).restart();
      }
    })();
    await Promise.all(ACCOUNTS.map(customer));
    isOpen = false;
    await killing;

    const stateOf = async () => (await pool.query("select state, count(*)::int from job group by 1 order by 1")).rows;
    await expect.poll(stateOf).not.toContainEqual(expect.objectContaining({ state: "waiting" }));
    const broken = VIDEOS.filter(({ video }) => video.startsWith("broken")).length;
    expect(await stateOf()).toEqual([
      { state: "done", count: 3 * (VIDEOS.length - broken) },
      { state: "failed", count: 3 * broken },
    ]);
    expect([...jobs.values()].map(({ size }) => size)).toEqual(Array(3 * VIDEOS.length).fill(1));
    const cost = VIDEOS.reduce((sum, video) => sum + creditsOf(video), 0);
    for (const account of ACCOUNTS) {
      const { balance } = (await (await fetch(`${processes[1]?.origin}/?account=${account}`)).json()) as Answer;
      expect(balance).toBe(BOUGHT - cost);
      const entries = "select sum(credits)::int from credits.meter_entry where account_id = $1";
      expect((await pool.query(entries, [account])).rows).toEqual([{ sum: BOUGHT - cost }]);
    }
  });
});

type Answer = { readonly job?: string; readonly error?: string; readonly balance?: number };

/** A process of the service, which is started again at the same port. */
class Process {
  readonly origin: string;
  readonly #project: PackedProject;
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;

  private constructor(origin: string, project: PackedProject, env: NodeJS.ProcessEnv) {
    this.origin = origin;
    this.#project = project;
    this.#env = env;
  }

  static async start(project: PackedProject, url: string, ahead: number): Promise<Process> {
    const port = String(await freePort());
    const clock = `--require ${resolve("test/support/wrong-clock.cjs")}`;
    const own = { DATABASE_URL: url, PORT: port, NODE_OPTIONS: clock, WALL_CLOCK_AHEAD_MS: String(ahead) };
    const one = new Process(`http://127.0.0.1:${port}`, project, { ...process.env, ...own });
    await one.#spawn();
    return one;
  }

  async kill(): Promise<void> {
    if (this.#child === undefined || this.#child.signalCode !== null) return;
    if (this.#child.exitCode !== null) throw new Error(`The service has ended with ${this.#child.exitCode}.`);
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.#spawn();
  }

  async #spawn(): Promise<void> {
    this.#child = (await this.#project.start("service.js", this.#env)).child;
  }
}
