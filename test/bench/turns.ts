import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { GrownService } from "./growth/grown-service.js";
import { type GrowthRequest, ROUTES } from "./growth/requests.js";
import { type Member, member, seedCrowd, seedMember, seedSearch } from "./growth/seed.js";
import { databasesOf, type Rig, type Scenario } from "./rig.js";
import { FURTHER } from "./turns/further-requests.js";

/*
 * The longest turn of the event loop while the service answers one request of each route, page and export for an
 * account with 60,000 tasks, and 128 of each write at once. Prints those above `--from` milliseconds. Each is the least
 * of several runs, because others work on the machine; the first run of a process is in its own column. `--tasks`,
 * `--crowd` and `--database` as those of `growth`.
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
          await seedCrowd(run, dialect, Number(crowd), now);
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
  const delay = monitorEventLoopDelay({ resolution: 1 });
  return async (requests: readonly (GrowthRequest & { readonly method: string })[]): Promise<Turn> => {
    const all = requests.map((one, index) => ({
      ...one,
      headers: { ...one.headers, "x-forwarded-for": `198.18.${Math.floor(index / 256)}.${index % 256}` },
    }));
    delay.enable();
    await setTimeout(20);
    delay.reset();
    const started = performance.now();
    sender.postMessage(all);
    const [statuses] = await once(sender, "message");
    const took = performance.now() - started;
    await setTimeout(5);
    delay.disable();
    return { longest: delay.max / 1e6, all: took, statuses };
  };
};
