import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { anImageName, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../adapters/memory/memory-object-storage.js";
import { createLogger } from "../../../adapters/observability/logger.js";
import { Metrics } from "../../../adapters/observability/metrics.js";
import { RequestObserver } from "../../../adapters/observability/request-observer.js";
import { scrape } from "../../../adapters/observability/scrape.js";
import { measuredStorage } from "../../../adapters/observability/storage-check.js";

const NONE = { waiting: 0, oldest: undefined, dueAt: undefined };
const LOAD = { connections: 3, idleConnections: 1, connectionsMax: 10, waiting: 5 };

const aScrape = () => {
  const clock = new HandClock();
  const errors: unknown[] = [];
  let backlog = async () => ({
    tasks: new Map([
      ["queued", { waiting: 2, oldest: noon, dueAt: secondsAfter(noon, 600) }],
      ["submitted", { waiting: 1, oldest: noon, dueAt: noon }],
    ]),
    deliveries: NONE,
    pendingOrders: { waiting: 3, oldest: noon },
  });
  let reads = 0;
  const ports = {
    metrics: new Metrics({ version: "1.2.3", node: "v20.0.0" }),
    clock,
    logger: { error: (line: unknown) => void errors.push(line) },
    readBacklog: () => {
      reads += 1;
      return backlog();
    },
    databaseLoad: () => LOAD,
  };
  const answer = scrape(ports);
  return {
    clock,
    errors,
    metrics: ports.metrics,
    reads: () => reads,
    answerWith: (next: typeof backlog) => {
      backlog = next;
    },
    samples: async (pattern: RegExp) => (await answer()).split("\n").filter((line) => pattern.test(line)),
  };
};

describe("GET /metrics", () => {
  it("shows unfinished tasks by state with the age of the oldest, and for how long work is overdue", async () => {
    const { clock, samples } = aScrape();
    await clock.advance(30_000);
    expect(await samples(/^panorama_(tasks|tasks_oldest_seconds|tasks_overdue_seconds)\{/)).toEqual([
      'panorama_tasks{state="queued"} 2',
      'panorama_tasks{state="submitted"} 1',
      'panorama_tasks_oldest_seconds{state="queued"} 30',
      'panorama_tasks_oldest_seconds{state="submitted"} 30',
      'panorama_tasks_overdue_seconds{state="queued"} 0',
      'panorama_tasks_overdue_seconds{state="submitted"} 30',
    ]);
  });

  it("queries the database at most once in ten seconds for concurrent scrapes", async () => {
    const { clock, samples, reads } = aScrape();
    await Promise.all([samples(/x/), samples(/x/)]);
    await clock.advance(10_000);
    await samples(/x/);
    expect(reads()).toBe(1);
    await clock.advance(1);
    await samples(/x/);
    expect(reads()).toBe(2);
  });

  it("shows the connections to the database, and the version", async () => {
    const { samples } = aScrape();
    expect(await samples(/^panorama_(database|build)/)).toEqual([
      'panorama_build_info{version="1.2.3",node="v20.0.0"} 1',
      "panorama_database_up 1",
      'panorama_database_connections{state="idle"} 1',
      'panorama_database_connections{state="busy"} 2',
      "panorama_database_connections_max 10",
      "panorama_database_waiting 5",
    ]);
  });

  it("shows panorama_database_up 0 and omits the numbers of unfinished work", async () => {
    const { clock, samples, errors, answerWith } = aScrape();
    await samples(/x/);
    await clock.advance(10_001);
    answerWith(() => Promise.reject(new Error("connection refused")));
    expect(await samples(/^panorama_(tasks(_\w+_seconds)?\{|webhook_deliveries|database_up )/)).toEqual([
      "panorama_database_up 0",
    ]);
    expect(errors).toEqual([expect.objectContaining({ event: "database_unavailable" })]);
  });

  it("does not wait for longer than five seconds for a database that does not answer", async () => {
    const { clock, samples, answerWith } = aScrape();
    answerWith(() => new Promise(() => {}));
    const answered = samples(/^panorama_database_up/);
    await clock.advance(5_000);
    expect(await answered).toEqual(["panorama_database_up 0"]);
  });

  it("counts errors of the REST interface by kind", async () => {
    const { metrics, samples } = aScrape();
    const observer = new RequestObserver(createLogger("silent", { write: () => {} }), metrics);
    const request = { requestId: "one", method: "GET", route: "/x", seconds: 0.01, network: "", aborted: false };
    observer.finished({ ...request, status: 429, error: "rate_limited" });
    observer.finished({ ...request, status: 200 });
    expect(await samples(/^http_request_errors_total/)).toEqual(['http_request_errors_total{kind="rate_limited"} 1']);
  });
});

describe("measuredStorage", () => {
  it("measures each call by operation and outcome, and changes nothing", async () => {
    const metrics = new Metrics({ version: "1.2.3", node: "v20.0.0" });
    const storage = measuredStorage(new MemoryObjectStorage(), metrics);
    const [name, missing] = [anImageName(1), anImageName(2)];
    expect(await storage.put(name, Uint8Array.of(1, 2), "image/jpeg")).toEqual(ok(undefined));
    expect(await storage.read(name)).toEqual(ok(Uint8Array.of(1, 2)));
    expect(await storage.read(missing)).toEqual(err(expect.objectContaining({ kind: "not_found" })));
    expect(await storage.delete(name)).toEqual(ok(undefined));
    expect(storage.nameOf(storage.urlOf(name))).toBe(name);
    const counts = (await metrics.text())
      .split("\n")
      .filter((line) => line.startsWith("panorama_storage_call_duration_seconds_count"));
    expect(counts).toEqual(
      ['put",outcome="ok', 'read",outcome="ok', 'read",outcome="not_found', 'delete",outcome="ok'].map(
        (labels) => `panorama_storage_call_duration_seconds_count{operation="${labels}"} 1`,
      ),
    );
  });
});
