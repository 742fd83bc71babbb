import { EventEmitter, once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { secretOf } from "../bench/throughput/data.js";
import { RestClient, type Task } from "../support/rest-client.js";
import { Installation } from "../support/service-process.js";
import type { Attack } from "./compare.js";

/** High, so that customers compete for the resource and do not reach their own rate limits. */
const LIMITS = { readsPerMinute: 6_000, writesPerMinute: 600 };
const RETRY_MILLISECONDS = 200;
/** After so long, as much is in progress as may be. */
const SETTLE_MILLISECONDS = 2_000;

export const installWithLimits = async (environment: Record<string, string>): Promise<Installation> => {
  const service = await Installation.create({ DEMO: "false", ...environment });
  const file = join(service.dataDir, "settings.json");
  await writeFile(file, JSON.stringify({ limits: LIMITS }));
  service.environment.PANORAMA_SETTINGS = file;
  return service;
};

export const clientOf = ({ url }: Installation, n: number): RestClient =>
  new RestClient(url.replace("localhost", "127.0.0.1"), secretOf(n));

/** Makes a panorama and waits for its end. Returns how it ended; `undefined` if the creation is refused. */
export const generate = async (
  client: RestClient,
  body: object,
  onCreated: (id: string) => void = () => {},
): Promise<string | undefined> => {
  const created = await client.request("/panoramas", { method: "POST", body: JSON.stringify(body) });
  let task = (await created.json()) as Task;
  if (created.status !== 202) return undefined;
  onCreated(task.id);
  while (task.status === "processing") {
    const answer = await client.request(`/panoramas/${task.id}`, { headers: { prefer: "wait=30" } });
    task = (await answer.json()) as Task;
  }
  return task.status;
};

/** Always has this many generations in progress. The last ones are canceled. */
export const generateWithoutEnd = (client: RestClient, count: number, body: object): Attack => {
  let isOn = false;
  let loops: Promise<void>[] = [];
  const loop = async (): Promise<void> => {
    let id = "";
    const canceled = once(stopping, "stop").then(() => client.request(`/panoramas/${id}/cancel`, { method: "POST" }));
    while (isOn) {
      const status = await generate(client, body, (created) => {
        id = created;
      });
      if (status === undefined) await setTimeout(RETRY_MILLISECONDS);
    }
    await canceled;
  };
  const stopping = new EventEmitter();
  return {
    start: async () => {
      isOn = true;
      loops = Array.from({ length: count }, loop);
      await setTimeout(SETTLE_MILLISECONDS);
    },
    stop: async () => {
      isOn = false;
      stopping.emit("stop");
      await Promise.all(loops);
      return undefined;
    },
  };
};
