import { setTimeout } from "node:timers/promises";
import { fill } from "../load/data.js";
import { LoadGenerator } from "../load/load.js";
import type { Sent } from "../load/sent.js";
import type { DatabaseKind, Rig } from "../rig.js";
import { type Contest, SIDES, type Side } from "./compare.js";
import { PUBLIC_ORIGIN, prepareHostile, ROWS } from "./rows.js";

const ACCOUNTS = 500;
const PAIRS = 20;
const PER_CONNECTION = 20;
/** After so many answers to each connection, the flood has used up what it may send at once. */
const ANSWERS_OF_CONNECTION = 5;
const LOOK_MILLISECONDS = 50;
/** The other side gets as many requests, which cost what a refusal costs: both need the processor as often. */
const HARMLESS: Sent = { method: "GET", path: "/healthz", headers: {} };

let customer = 10;

/** Resources whose hostile client sends one request again and again. */
export const openFloods = async (rig: Rig, kind: DatabaseKind): Promise<readonly Contest[]> => {
  const open = async () => {
    const environment = await rig.instantProvider({ PUBLIC_URL: PUBLIC_ORIGIN });
    const { service } = await rig.install(kind, environment, async (database) => {
      await fill(database, ACCOUNTS);
      await prepareHostile(database);
    });
    await service.start();
    return { url: new URL(service.url.replace("localhost", "127.0.0.1")), generator: await LoadGenerator.start(rig) };
  };
  const sides = { attacked: await open(), control: await open() };

  return ROWS.map(({ name, hostile, connections, victim }) => ({
    name,
    pairs: PAIRS,
    sample: (side) => sampleOf(sides[side].url.origin, victim),
    start: async () => {
      const perSecond = PER_CONNECTION * connections;
      const begin = (side: Side, sent: Sent) =>
        sides[side].generator.begin({ port: Number(sides[side].url.port), requests: [sent], connections, perSecond });
      await Promise.all([begin("attacked", hostile), begin("control", HARMLESS)]);
      for (const side of SIDES) {
        const { generator } = sides[side];
        while ((await generator.answered()) < ANSWERS_OF_CONNECTION * connections) await setTimeout(LOOK_MILLISECONDS);
      }
    },
    stop: async () => {
      for (const side of SIDES) await sides[side].generator.end("at once");
    },
  }));
};

/** Sends the request of a customer who has sent none yet. */
const sampleOf = async (origin: string, victim: (n: number) => Sent) => {
  customer += 1;
  const { method, path, headers, body } = victim(customer);
  const begun = performance.now();
  const answer = await fetch(origin + path, { method, headers, ...(body && { body }), redirect: "manual" });
  await answer.arrayBuffer();
  const isRefused = answer.status === 429 || answer.status >= 500;
  return { milliseconds: performance.now() - begun, isRefused };
};
