import { get } from "node:http";
import { setTimeout } from "node:timers/promises";
import { fill } from "./load/data.js";
import { LoadGenerator } from "./load/load.js";
import type { Outcome } from "./load/load-process.js";
import { type DatabaseKind, databasesOf, type Rig, type Scenario } from "./rig.js";
import { quantile } from "./statistics.js";

const CLOSED_LOOP_CONNECTIONS = 32;
const CONNECTIONS_MAX = 10_000;
const WARM_UP_SECONDS = 5;
const STEADY_SECONDS = 8;
const RECOVERY_MILLISECONDS = 2_000;
const P99_MILLISECONDS_MAX = 1_000;
const PROBE_MILLISECONDS = 200;
/** After the overload against before. Without any overload the capacity varies by a third from one run to the next. */
const CAPACITY_SHARE_MIN = 0.6;
const P99_RATIO_MAX = 2;
/** A p99 below this is as good as any. */
const P99_MILLISECONDS_MIN = 20;

/** The answers with this first digit of their status. */
const timesOf = ({ answers }: Outcome, digit: string) =>
  Object.entries(answers).flatMap(([status, times]) => (status.startsWith(digit) ? [times] : []));
const servedPerSecond = (outcome: Outcome): number =>
  timesOf(outcome, "2").reduce((sum, { count }) => sum + count, 0) / outcome.seconds;
const p99Of = (outcome: Outcome, digit: string): number =>
  Math.max(0, ...timesOf(outcome, digit).map(({ p99 }) => p99));

const show = (name: string, { seconds, sent, notSent, answers }: Outcome): void => {
  const [arrived, unsent] = [sent, notSent].map((n) => Math.round(n / seconds));
  console.log(`  ${name}: ${arrived} sent per second, ${unsent} more could not be sent`);
  for (const [status, { count, p50, p99, max }] of Object.entries(answers)) {
    const figures = [p50, p99, max].map((time) => time.toFixed(1)).join(", ");
    console.log(`    status ${status}: ${Math.round(count / seconds)} per second; median, p99, slowest ${figures} ms`);
  }
};

/** Some accounts have five active tasks by the end of the overload: the generator asks too often for them. */
const isAccountLimit = (refusal: string): boolean => refusal.includes('"code":"too_many_active_tasks"');

/** Whether the answer is 429 or 503 with the error body and a time to wait, or a limit of the account. */
const isRefusal = (refusal: string): boolean => {
  const isTimed = /^(429|503) [1-9]/.test(refusal) || isAccountLimit(refusal);
  return isTimed && /\{"error":\{.*"code":"\w+".*\}\}/.test(refusal) && refusal.includes('"message":"');
};

/** Resolves to the milliseconds until the answer over a connection of its own, or to what is wrong. */
const probe = (url: string): Promise<number | string> =>
  new Promise((resolve) => {
    const begun = performance.now();
    const request = get(url, { agent: false, timeout: 10_000 }, (response) => {
      response.resume().once("end", () => {
        resolve(response.statusCode === 200 ? performance.now() - begun : `status ${response.statusCode}`);
      });
    });
    request.once("timeout", () => request.destroy(new Error("no answer in 10 s")));
    request.once("error", (error) => resolve(error.message));
  });

/** Asks for both health checks, again and again until `work` ends. */
const whileProbed = async <T>(origin: string, work: Promise<T>) => {
  const ended = work.then(() => true);
  const probes: Promise<number | string>[] = [];
  do probes.push(probe(`${origin}/healthz`), probe(`${origin}/readyz`));
  while (!(await Promise.race([ended, setTimeout(PROBE_MILLISECONDS, false)])));
  return { outcome: await work, probes: await Promise.all(probes) };
};

const measure = async (rig: Rig, kind: DatabaseKind, seconds: number, times: number): Promise<void> => {
  const environment = await rig.instantProvider();
  const { service } = await rig.install(kind, environment, fill);
  await service.start();
  const { port, origin } = new URL(service.url);
  const generator = await LoadGenerator.start(rig);
  // So many accounts that no key and hardly an account reaches a limit: nearly every 429 is one of the overload.
  const closed = { port: Number(port), requests: "halves" as const, connections: CLOSED_LOOP_CONNECTIONS };
  console.log(kind);
  await generator.during(WARM_UP_SECONDS, closed);
  const capacity = await generator.during(STEADY_SECONDS, closed);
  const perSecond = servedPerSecond(capacity);
  show("capacity", capacity);
  const open = (share: number) => ({ ...closed, connections: CONNECTIONS_MAX, perSecond: perSecond * share });
  const before = await generator.during(STEADY_SECONDS, open(0.5));
  show("half of the capacity, before", before);
  const offered = generator.during(seconds, open(times));
  const { outcome: overload, probes } = await whileProbed(origin, offered);
  show(`${times} times the capacity, ${Math.round(perSecond * times)} per second`, overload);
  await setTimeout(RECOVERY_MILLISECONDS);
  const after = await generator.during(STEADY_SECONDS, open(0.5));
  show("half of the capacity, two seconds after", after);
  const again = await generator.during(STEADY_SECONDS, closed);

  const of = `${kind}, ${times} times the capacity`;
  const probed = probes.filter((one) => typeof one === "number");
  rig.figure(`${of}: p99 of what is served`, "ms", p99Of(overload, "2"), { max: P99_MILLISECONDS_MAX });
  rig.figure(`${of}: p99 of what is refused`, "ms", p99Of(overload, "4"), { max: P99_MILLISECONDS_MAX });
  rig.figure(`${of}: p99 of health checks`, "ms", quantile(probed, 0.99), { max: P99_MILLISECONDS_MAX });
  rig.figure(`${of}: served in a second`, "", servedPerSecond(overload), { min: 1 });
  rig.figure(`${kind}: capacity after against before`, "", servedPerSecond(again) / perSecond, {
    min: CAPACITY_SHARE_MIN,
  });
  rig.figure(`${kind}: p99 of half the capacity, after`, "ms", p99Of(after, "2"), {
    max: Math.max(P99_MILLISECONDS_MIN, p99Of(before, "2") * P99_RATIO_MAX),
  });
  const strange = overload.refusals.find((refusal) => !isRefusal(refusal));
  const failed = probes.find((one) => typeof one === "string");
  rig.expect(strange === undefined, `${kind}: an answer is neither 2xx nor a refusal: ${strange}`);
  rig.expect(failed === undefined, `${kind}: a health check failed: ${failed}`);
  rig.expect(after.refusals.every(isAccountLimit), `${kind}: a request is refused two seconds later`);
  for (const { unanswered, answers } of [overload, after]) {
    rig.expect(unanswered === 0 && answers["0"] === undefined, `${kind}: a request had no answer`);
  }
  await rig.close();
};

/*
 * The built service at ten times its capacity. Measures how many requests it answers in a second, every second one a
 * creation, each with a key of its own, over 32 connections. Then sends ten times as many for a minute, whether it
 * answers or not. `-- --database sqlite` measures one database, `-- --seconds 10` sets the length, `-- --times 5` the
 * load.
 */
export const scenario: Scenario<"database" | "seconds" | "times"> = {
  options: { database: "", seconds: "60", times: "10" },
  run: async (rig, { database, seconds, times }) => {
    for (const kind of databasesOf(database)) await measure(rig, kind, Number(seconds), Number(times));
  },
};
