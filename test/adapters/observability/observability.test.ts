import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { createLogger, withRequest } from "../../../adapters/observability/logger.js";
import { Metrics } from "../../../adapters/observability/metrics.js";
import { ProviderCircuits } from "../../../adapters/observability/provider-circuits.js";
import { OperationalReporter } from "../../../adapters/observability/reporter.js";
import { RequestObserver } from "../../../adapters/observability/request-observer.js";
import type { OperationalEvent } from "../../../application/ports/reporter.js";
import type { TaskId } from "../../../domain/ids.js";

const PROMPT = "a secret garden - at dawn";
const BUILD = { version: "1.2.3", node: "v20.0.0" };
const KEY = `sk-${"k".repeat(43)}`;
const taskId = "pan_1" as TaskId;

const lines = () => {
  const written: string[] = [];
  const logger = createLogger("info", { write: (line) => void written.push(line) });
  return { logger, written, parsed: () => written.map((line) => JSON.parse(line)) };
};

/** As a database driver throws it: the message is the statement with its values, then the reason. */
const databaseError = () => {
  const cause = new Error(
    `/**/ insert into "task" ("prompt") values ('${PROMPT}\nsecond line') - UNIQUE constraint failed: task.id`,
  );
  return Object.assign(new Error(cause.message, { cause }), {
    name: "UniqueConstraintViolationException",
    code: "23505",
  });
};

const events: OperationalEvent[] = [
  { kind: "task_submitted", taskId, provider: "fal:seedream-4.5", upstreamTaskId: "up-1" },
  {
    kind: "picture_measured",
    taskId,
    provider: "fal:seedream-4.5",
    nativeSize: { widthPixels: 2720, heightPixels: 1360 },
    seam: 2.5,
    seamRatio: 1.75,
    poleDeviation: { zenith: 3.5, nadir: 20.5 },
    horizon: 0.48,
  },
  { kind: "task_succeeded", taskId, provider: "fal:seedream-4.5", seconds: 42 },
  { kind: "task_failed", taskId, provider: "comfyui:1", reason: "refused", detail: `401 for ${KEY}` },
  { kind: "task_failed", taskId, reason: "never_started", detail: "no slot became free" },
  { kind: "possible_orphan", taskId, detail: "time-out" },
  { kind: "submission_recovered", taskId, upstreamTaskId: "up-1" },
  { kind: "provider_unavailable", taskId, detail: "503" },
  { kind: "image_status", taskId, status: "saved", detail: "" },
  { kind: "task_unreadable", taskId, column: "resolution" },
  { kind: "work_failed", work: "poll", taskId, error: databaseError() },
  { kind: "work_failed", work: "poll", taskId, error: `not even an error, but ${KEY}` },
];

describe("a log line", () => {
  it.each(events)("is written once for event $kind of task $taskId, without key or prompt", (event) => {
    const { logger, written, parsed } = lines();
    new OperationalReporter(logger, new Metrics(BUILD)).report(event);
    expect(parsed()).toEqual([expect.objectContaining({ event: event.kind, taskId })]);
    expect(written.join()).not.toMatch(/secret garden|second line|sk-k/);
  });

  it("contains no field of the previous line of the same request", () => {
    const { logger, parsed } = lines();
    withRequest({ requestId: "one" }, () => {
      logger.error({ event: "request_failed", error: "disk full" });
      logger.info({ event: "request" });
    });
    const line = { level: "info", time: expect.any(String), requestId: "one", event: "request" };
    expect(parsed()[1]).toEqual(line);
  });

  it("contains type, code, message, cause and stack of a database error, without the statement", () => {
    const { logger, parsed } = lines();
    logger.error({ error: databaseError() });
    const message = "UNIQUE constraint failed: task.id";
    expect(parsed()[0].error).toMatchObject({
      type: "UniqueConstraintViolationException",
      code: "23505",
      message,
      cause: { message },
    });
    expect(parsed()[0].error.stack).toContain("observability.test.ts");
  });

  it("redacts secrets and prompts up to two levels deep, and API keys everywhere", () => {
    const { logger, written } = lines();
    const secrets = {
      authorization: `Bearer ${KEY}`,
      "x-api-key": KEY,
      password: "hunter2",
      prompt: PROMPT,
      cookie: "session=abc",
    };
    logger.info(secrets, `with ${KEY}`);
    logger.info({ headers: secrets });
    logger.info({ request: { body: secrets } });
    expect(written).toHaveLength(3);
    expect(written.join()).not.toMatch(/sk-k|hunter2|garden|session=abc/);
  });

  it("contains the id of the request that wrote the line, also after asynchronous work", async () => {
    const { logger, parsed } = lines();
    const handle = (requestId: string) =>
      withRequest({ requestId }, async () => {
        logger.info("begins");
        await setImmediate();
        logger.info("ends");
      });
    await Promise.all([handle("one"), handle("two")]);
    logger.info("outside");
    expect(parsed().map(({ requestId, msg }) => [requestId, msg])).toEqual([
      ["one", "begins"],
      ["two", "begins"],
      ["one", "ends"],
      ["two", "ends"],
      [undefined, "outside"],
    ]);
  });

  it("is omitted below the log level, and has time and level as text", () => {
    const { logger, parsed } = lines();
    logger.debug("not written");
    logger.warn("written");
    expect(parsed()).toEqual([
      { level: "warn", time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), msg: "written" },
    ]);
  });
});

describe("Metrics", () => {
  it("counts every operational event", async () => {
    const metrics = new Metrics(BUILD);
    const reporter = new OperationalReporter(lines().logger, metrics);
    for (const event of events) reporter.report(event);
    const text = await metrics.text();
    for (const line of [
      "panorama_tasks_submitted_total 1",
      'panorama_task_duration_seconds_sum{provider="fal:seedream-4.5"} 42',
      'panorama_tasks_failed_total{provider="comfyui:1",reason="refused"} 1',
      'panorama_tasks_failed_total{provider="none",reason="never_started"} 1',
      "panorama_seam_levels_sum 2.5",
      'panorama_result_seam_ratio_sum{provider="fal:seedream-4.5"} 1.75',
      'panorama_result_pole_deviation_sum{provider="fal:seedream-4.5",pole="zenith"} 3.5',
      'panorama_result_pole_deviation_sum{provider="fal:seedream-4.5",pole="nadir"} 20.5',
      "panorama_possible_orphans_total 1",
      "panorama_submissions_recovered_total 1",
      "panorama_provider_unavailable_total 1",
      'panorama_image_attempts_total{status="saved"} 1',
      'panorama_work_failures_total{work="poll"} 2',
    ]) {
      expect(text.split("\n")).toContain(line);
    }
  });

  it("measures requests by method, route pattern and status, and counts those in flight", async () => {
    const metrics = new Metrics(BUILD);
    const { logger, parsed } = lines();
    const observer = new RequestObserver(logger, metrics);
    observer.run("one", () => logger.info("handled"));
    observer.run("two", () => {});
    observer.finished({
      requestId: "one",
      method: "GET",
      route: "/panoramas/:id",
      status: 200,
      seconds: 0.02,
      network: "203.0.113.7",
      aborted: false,
    });
    const text = await metrics.text();
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/panoramas/:id",status="200"} 1');
    expect(text).toContain(
      'http_request_duration_seconds_bucket{le="0.025",method="GET",route="/panoramas/:id",status="200"} 1',
    );
    expect(text).toContain("http_requests_in_flight 1");
    expect(parsed()).toEqual([
      expect.objectContaining({ msg: "handled", requestId: "one" }),
      expect.objectContaining({ event: "request", requestId: "one", route: "/panoramas/:id", status: 200 }),
    ]);
  });
});

describe("ProviderCircuits", () => {
  it("reports an unavailable provider in the log, in a metric and in /readyz until it answers again", async () => {
    const { logger, parsed } = lines();
    const metrics = new Metrics(BUILD);
    const circuits = new ProviderCircuits(logger, metrics);
    circuits.watch("fal");
    const changed = circuits.watch("skybox");
    const seen = async () => {
      const gauge = /^panorama_provider_circuit_state\{provider="skybox"\} (\d)$/m.exec(await metrics.text())?.[1];
      return [gauge, ...circuits.checks().map(({ name, ok, detail }) => `${name}: ${ok}, ${detail}`)];
    };
    const fal = "provider fal: true, The provider answers.";
    expect(await seen()).toEqual(["0", fal, "provider skybox: true, The provider answers."]);
    changed("open");
    expect(await seen()).toEqual([
      "2",
      fal,
      "provider skybox: true, The provider does not answer: creations are refused; a trial call is made from time to time.",
    ]);
    changed("half-open");
    expect(await seen()).toEqual([
      "1",
      fal,
      "provider skybox: true, The provider did not answer; one trial call checks whether it answers again.",
    ]);
    changed("closed");
    expect(await seen()).toEqual(["0", fal, "provider skybox: true, The provider answers."]);
    expect(parsed()).toEqual([
      expect.objectContaining({ level: "warn", event: "provider_down", provider: "skybox" }),
      expect.objectContaining({ level: "info", event: "provider_up", provider: "skybox" }),
    ]);
  });
});

describe("RequestObserver", () => {
  it("logs a failed request with its id, without the values of the SQL statement", () => {
    const { logger, written, parsed } = lines();
    new RequestObserver(logger, new Metrics(BUILD)).failed("one", databaseError());
    expect(parsed()[0]).toMatchObject({ level: "error", event: "request_failed", requestId: "one" });
    expect(written.join()).not.toContain("garden");
  });

  it("counts every request that an overload refuses, and logs at most one line in ten seconds", async () => {
    const { logger, parsed } = lines();
    const metrics = new Metrics(BUILD);
    const observer = new RequestObserver(logger, metrics);
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    for (const at of [0, 9_999, 10_000, 12_000]) {
      now.mockReturnValue(at);
      observer.overloaded();
    }
    now.mockRestore();
    expect(parsed()).toEqual(Array(2).fill(expect.objectContaining({ level: "warn", event: "overloaded" })));
    expect(await metrics.text()).toContain("http_requests_refused_total 4\n");
  });
});
