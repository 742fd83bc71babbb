import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { accountIdOf, taskIdOf } from "../bench/throughput/data.js";
import { installWithInstantProvider } from "../bench/throughput/processes.js";
import type { AnyDatabase } from "../support/sql-stores.js";
import type { OpenArena } from "./arena.js";
import type { Attack, Rate, Sample } from "./compare.js";
import type { Flood, Sent } from "./flood-process.js";
import { HOSTILE, PUBLIC_ORIGIN, ROWS, type Row } from "./rows.js";

const SAMPLES = 20;
/** After so long the flood has used up what it may send at once. */
const SETTLE_MILLISECONDS = 1_500;
/** A flood that sends less on each connection hardly runs: on a busy machine it may be starved (flood-process.ts). */
const RATE_MIN_PER_CONNECTION = 0.5;
/** After so long it is starved. */
const ANSWER_MILLISECONDS = 10_000;
const FLOOD_PROCESS = new URL("flood-process.ts", import.meta.url).pathname;

let customer = 10;

/** Rows whose hostile client sends one request again and again. */
export const openFloods: OpenArena = async (environment) => {
  const { service, upstream } = await installWithInstantProvider({ PUBLIC_URL: PUBLIC_ORIGIN, ...environment });
  const origin = service.url.replace("localhost", "127.0.0.1");
  const contests = ROWS.map(({ name, hostile, victim }) => ({
    name,
    samples: SAMPLES,
    sample: () => sampleOf(origin, victim),
    attack: floodOf(origin, hostile),
  }));
  return { service, prepare: prepareHostile, contests, close: async () => upstream.stop() };
};

/** Sends the request of a customer who has sent none yet. */
const sampleOf = async (origin: string, victim: Row["victim"]): Promise<Sample> => {
  customer += 1;
  const { method, path, headers, body }: Sent = victim(customer);
  const begun = performance.now();
  const answer = await fetch(origin + path, { method, headers, ...(body && { body }), redirect: "manual" });
  await answer.arrayBuffer();
  const isRefused = answer.status === 429 || answer.status >= 500;
  return { milliseconds: performance.now() - begun, isRefused };
};

const floodOf = (origin: string, flood: Flood): Attack => {
  let child: ChildProcess | undefined;
  return {
    start: async () => {
      child = spawn(process.execPath, ["--import", "tsx", FLOOD_PROCESS, origin, JSON.stringify(flood)], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      await once(child.stdout as Readable, "data");
      await setTimeout(SETTLE_MILLISECONDS);
    },
    stop: async () => {
      const rate = child && (await rateOf(child, flood));
      child?.kill("SIGKILL");
      await setTimeout(SETTLE_MILLISECONDS);
      return rate;
    },
  };
};

/** Ends the flood. One that does not even say how much it sent is starved. */
const rateOf = async ({ stdin, stdout }: ChildProcess, { connections }: Flood): Promise<Rate> => {
  const written = once(stdout as Readable, "data").then(String);
  stdin?.end();
  const perSecond = Number(await Promise.race([written, setTimeout(ANSWER_MILLISECONDS, "0")]));
  return { perSecond, minimum: RATE_MIN_PER_CONNECTION * connections };
};

const prepareHostile = async ({ sql }: AnyDatabase): Promise<void> => {
  const digest = createHash("sha256").update(HOSTILE.sessionToken).digest("hex");
  await sql("insert into session (token_sha256, account_id, created_at, expires_at) values (?, ?, ?, ?)", [
    digest,
    accountIdOf(HOSTILE.account),
    new Date(),
    new Date(Date.now() + 86_400_000),
  ]);
  await sql("update task set visibility = 'public' where id like '%7'");
  await sql("update task set state = 'submitted', due_at = ? where id = ?", [
    new Date(Date.now() + 3_600_000),
    taskIdOf(HOSTILE.activeTask),
  ]);
};
