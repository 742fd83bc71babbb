import { once } from "node:events";
import { closeSync, openSync, readSync } from "node:fs";
import { setImmediate, setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { GrownService } from "./growth/grown-service.js";
import { type GrowthRequest, ROUTES } from "./growth/requests.js";
import { type Member, member, seedCrowd, seedMember, seedSearch } from "./growth/seed.js";
import { databasesOf, type Rig, type Scenario } from "./rig.js";
import { FURTHER } from "./turns/further-requests.js";

/*
 * The longest turn of the event loop, in processor time of the main thread, while the service answers one request of
 * each route, page and export for an account with 60,000 tasks, and 128 of each write at once. Prints those above
 * `--from` milliseconds. The first run of a route is in its own column; of the later ones the least counts, because a
 * garbage collection may fall into any turn. `--only` names a part of the routes; `--tasks`, `--crowd` and `--database`
 * are those of `growth`. Only on Linux.
 */
export const scenario: Scenario<"database" | "tasks" | "crowd" | "from" | "runs" | "only"> = {
  options: { database: "", tasks: "60000", crowd: "2000", from: "10", runs: "4", only: "" },
  run: async (rig, { database, tasks, crowd, from, runs, only }) => {
    for (const kind of databasesOf(database)) {
      const now = new Date();
      const size = { tasks: Number(tasks), others: 500 };
      const who = member("old", size, now);
      const service = await GrownService.start(
        rig,
        kind,
        async (run, dialect) => {
          await seedCrowd(run, dialect, { accounts: Number(crowd), tasksEach: 3 }, now);
          await seedMember(run, dialect, who, size, now);
          await seedSearch(run, dialect);
        },
        WITHOUT_LIMITS,
      );
      const turns = turnsOf(rig, service.origin);
      console.log(
        `| ${kind}: what | requests | first, ms | later, ms | all answered, ms | statuses |\n|---|---|---|---|---|---|`,
      );
      for (const { name, method, make } of requestsOf(who).filter((one) => one.name.includes(only))) {
        const countedFrom = sent;
        for (const count of method === "GET" ? [1] : [1, AT_ONCE]) {
          const measured: Turn[] = [];
          for (let run = 0; run < Number(runs); run += 1) {
            measured.push(
              await turns(Array.from({ length: count }, () => ({ method, ...make(who, sent++ - countedFrom) }))),
            );
          }
          const [first, ...later] = measured.map(({ longest }) => longest);
          const least = Math.min(...later);
          if (least < Number(from) && (first ?? 0) < 2 * Number(from)) continue;
          const whole = Math.min(...measured.map(({ all }) => all));
          const statuses = [...new Set(measured.flatMap((one) => one.statuses))].join(", ");
          console.log(
            `| ${name} | ${count} | ${first?.toFixed(0)} | ${least.toFixed(0)} | ${whole.toFixed(0)} | ${statuses} |`,
          );
        }
      }
      await rig.close();
    }
  },
};

const AT_ONCE = 128;
const WITHOUT_LIMITS = { activeMax: 10_000, rate: { limit: 100_000, windowSeconds: 60 } };

let sent = 0;

const requestsOf = (who: Member) =>
  [...Object.entries(ROUTES), ...Object.entries(FURTHER)].flatMap(([route, rows]) => {
    const method = route.slice(0, route.indexOf(" "));
    return typeof rows === "string"
      ? []
      : Object.entries(rows).map(([what, make]) => ({ name: `${route} ${what}`.trim(), method, make, who }));
  });

type Turn = { readonly longest: number; readonly all: number; readonly statuses: readonly unknown[] };

/** Sends requests at once, and resolves to the longest turn until all are answered. */
const turnsOf = (rig: Rig, origin: string) => {
  const sender = new Worker(new URL("./turns/sender.mjs", import.meta.url), { workerData: origin });
  rig.defer(() => sender.terminate());
  const statistics = openSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, "r");
  rig.defer(() => closeSync(statistics));
  const bytes = Buffer.alloc(64);
  const cpuMilliseconds = () =>
    Number.parseInt(bytes.toString("latin1", 0, readSync(statistics, bytes, 0, 64, 0)), 10) / 1e6;
  return async (requests: readonly (GrowthRequest & { readonly method: string })[]): Promise<Turn> => {
    const all = requests.map((one, index) => ({
      ...one,
      headers: { ...one.headers, "x-forwarded-for": `198.18.${Math.floor(index / 256)}.${index % 256}` },
    }));
    let isMeasuring = true;
    let longest = 0;
    await setTimeout(20);
    const measuring = (async () => {
      for (let last = cpuMilliseconds(); isMeasuring; ) {
        await setImmediate();
        const now = cpuMilliseconds();
        longest = Math.max(longest, now - last);
        last = now;
      }
    })();
    const started = performance.now();
    sender.postMessage(all);
    const [statuses] = await once(sender, "message");
    const took = performance.now() - started;
    isMeasuring = false;
    await measuring;
    return { longest, all: took, statuses };
  };
};
