import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { LogDestination } from "../../../adapters/observability/log-destination.js";
import { createLogger } from "../../../adapters/observability/logger.js";

const EVALUATE = ["--input-type=module", "-e"];

/** A program with a `logger` on its standard error, and the number of `lost` lines. */
const script = (rest: string): string => `
  const { createLogger } = await import(${JSON.stringify(compiled("logger.js"))});
  const { LogDestination } = await import(${JSON.stringify(compiled("log-destination.js"))});
  let lost = 0;
  const logger = createLogger("info", new LogDestination(2, () => (lost += 1)));
  ${rest}`;
const compiled = (file: string) => new URL(`../../../dist/adapters/observability/${file}`, import.meta.url).href;

/** Three times as much as may wait. Prints how many lines are lost. */
const LOG_3_MEBIBYTES = `
  for (let n = 0; n < 3000; n += 1) logger.error({ n, text: "x".repeat(1000) });
  console.log(lost);`;

describe("LogDestination", () => {
  const folder = mkdtempSync(join(tmpdir(), "panorama-log-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const open = (name: string) => {
    const file = join(folder, name);
    const sink = new LogDestination(openSync(file, "a"));
    const written = () =>
      readFileSync(file, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line).msg);
    return { logger: createLogger("info", sink), written };
  };

  it("writes a line after a second at the latest", async () => {
    const { logger, written } = open("second");
    logger.info("one");
    expect(written()).toEqual([]);
    await expect.poll(written).toEqual(["one"]);
  });

  it("writes a warning or an error at once, after the lines before it", () => {
    const { logger, written } = open("error");
    logger.info("one");
    logger.warn("two");
    expect(written()).toEqual(["one", "two"]);
    logger.info("three");
    logger.error("four");
    expect(written()).toEqual(["one", "two", "three", "four"]);
  });

  it("loses no line when the process exits", () => {
    const program = script("for (let n = 0; n < 1000; n += 1) logger.info({ n });");
    const { stderr } = spawnSync(process.execPath, [...EVALUATE, program], { encoding: "utf8" });
    const written = stderr.trimEnd().split("\n");
    expect(written.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 1000 }, (_, n) => n));
  });

  it("does not wait for a pipe without a reader, and reports the number of lost lines", async () => {
    const child = spawn(process.execPath, [
      ...EVALUATE,
      script(`${LOG_3_MEBIBYTES}
      process.stdin.once("data", () => { logger.warn("last"); process.exit(0); });`),
    ]);
    const [lost] = (await once(child.stdout, "data")) as [Buffer]; // nobody has read the pipe
    let log = "";
    let isTold = false;
    child.stderr.on("data", (chunk: Buffer) => {
      log += chunk.toString();
      if (isTold || !log.includes("log_lines_lost")) return;
      isTold = true;
      child.stdin.write("now\n");
    });
    const [status] = await once(child, "close");
    expect(status).toBe(0);
    const written = log
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const kept = 3_000 - Number(lost);
    expect(written.slice(0, kept).map(({ n }) => n)).toEqual(Array.from({ length: kept }, (_, n) => n));
    expect(written.slice(kept)).toMatchObject([
      { level: "warn", event: "log_lines_lost", lines: Number(lost), reason: "EAGAIN" },
      { level: "warn", msg: "last" },
    ]);
  });

  it("continues, and exits, after the reader of the pipe has gone", async () => {
    const child = spawn(process.execPath, [
      ...EVALUATE,
      script(`
      process.stdin.once("data", () => { ${LOG_3_MEBIBYTES} process.exit(0); });
      console.log("ready");`),
    ]);
    await once(child.stdout, "data");
    child.stderr.destroy();
    child.stdin.write("now\n");
    expect((await once(child, "close"))[0]).toBe(0);
  });
});
