import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Dialect } from "../../adapters/persistence/sql/database.js";
import { slowCommands, unnamedCommands } from "./commands.js";
import { GrownService } from "./grown-service.js";
import { type MakeRequest, ROUTES } from "./requests.js";
import { FULL, type Member, member, OLD, seedCrowd, seedMember, seedSearch, YOUNG } from "./seed.js";

/*
 * No request costs more because its account is old, or because the service has many: each route is measured for a young
 * account on a small database, and for a young and an old one on a large database. Pages that show more tasks than a
 * young account has take longer by design; there, an account whose tasks just fill the page takes its place. Commands
 * are measured for the young account on both.
 */

const SLOWDOWN_MAX = 1.5;
/** Below this difference, in milliseconds, a slowdown cannot be told from noise. */
const NOISE = 1;
/** So many runs of each, in turns. */
const RUNS = 5;
/** What seems slower is measured again after everything else, because other work on the machine comes in waves. */
const PASSES = 20;
const CROWD = { small: 300, large: 20_000 };

const now = new Date();
const young = member("young", YOUNG, now);
const full = member("full", FULL, now);
const old = member("old", OLD, now);

describe.each<Dialect>(["sqlite", "postgresql"])("the service on %s", (dialect) => {
  let small: GrownService;
  let large: GrownService;

  beforeAll(async () => {
    small = await GrownService.start(dialect, async (run) => {
      await seedCrowd(run, dialect, CROWD.small, now);
      await seedMember(run, dialect, young, YOUNG, now);
      await seedMember(run, dialect, full, FULL, now);
      await seedSearch(run, dialect);
    });
    large = await GrownService.start(dialect, async (run) => {
      await seedCrowd(run, dialect, CROWD.large, now);
      await seedMember(run, dialect, young, YOUNG, now);
      await seedMember(run, dialect, full, FULL, now);
      await seedMember(run, dialect, old, OLD, now);
      await seedSearch(run, dialect);
    });
  });
  afterAll(async () => {
    await small?.close();
    await large?.close();
  });

  it("has commands that read, which are all measured or named with a reason", () => {
    expect(unnamedCommands()).toEqual([]);
  });

  it(`has no command that takes more than ${SLOWDOWN_MAX} times as long among ${CROWD.large} accounts as among ${CROWD.small}`, async () => {
    expect(await slowCommands(small, large, young, SLOWDOWN_MAX)).toEqual([]);
  });

  it("has routes that are all measured", () => {
    const isFile = (route: string) => /^GET \/(static|assets|generations|downloads|docs|mcp)\b/.test(route);
    expect([...small.routes].filter((route) => !isFile(route) && !(route in ROUTES))).toEqual([]);
  });

  /** Milliseconds for the young account, for the young one among many others, and for the old one among them. */
  const measure = async ({ method, make, times }: Measured): Promise<void> => {
    const base = make(young, 0).isLarge ? full : young;
    const subjects: readonly (readonly [GrownService, Member])[] = [
      [small, base],
      [large, base],
      [large, old],
    ];
    for (let run = 0; run < RUNS; run += 1) {
      const turns = [...subjects.entries()];
      for (const [index, [service, who]] of run % 2 === 0 ? turns : turns.reverse()) {
        const request = make(who, run);
        const { milliseconds, status } = await service.send(method, request);
        expect(status, `${method} ${request.path} of ${who.id}`).toBe(request.status);
        times[index]?.push(milliseconds);
      }
    }
  };

  it(`has no route that takes more than ${SLOWDOWN_MAX} times as long for an old account among many`, async () => {
    const all = Object.entries(ROUTES).flatMap(([route, rows]): Measured[] =>
      typeof rows === "string"
        ? []
        : Object.entries(rows).map(([what, make]) => {
            const method = route.slice(0, route.indexOf(" "));
            return { name: `${route} ${what}`, method, make, times: [[], [], []] };
          }),
    );
    let slower = all;
    for (let pass = 0; pass < PASSES && slower.length > 0; pass += 1) {
      for (const measured of slower) await measure(measured);
      slower = slower.filter(({ times }) => isSlower(times));
    }
    const lines = (some: readonly Measured[]) => some.map(({ name, times }) => `${name}: ${inWords(times)}`);
    console.log(lines(all).join("\n"));
    expect(lines(slower)).toEqual([]);
  });

  it("reads what is unfinished, for a scrape, in the same time", async () => {
    const times: number[][] = [[], []];
    for (let run = 0; run < RUNS * PASSES && (run < RUNS || isSlower(times)); run += 1) {
      for (const [index, service] of [small, large].entries()) {
        const started = performance.now();
        await service.readBacklog();
        times[index]?.push(performance.now() - started);
      }
    }
    console.log(`scrape: ${inWords(times)}`);
    expect(isSlower(times)).toBe(false);
  });
});

type Measured = {
  readonly name: string;
  readonly method: string;
  readonly make: MakeRequest;
  /** Milliseconds of each run, for each subject. */
  readonly times: readonly number[][];
};

const shortest = (times: readonly number[]): number => Math.min(...times);
const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;

/**
 * By the shortest times and by the medians. On a busy machine, one of the two can differ by chance: a single run of one
 * subject that nothing interrupts, or interruptions of many runs of another.
 */
const isSlower = (times: readonly (readonly number[])[]): boolean =>
  [shortest, median].every((of) => {
    const [base = 0, ...others] = times.map(of);
    return Math.max(...others) > Math.max(base * SLOWDOWN_MAX, base + NOISE);
  });

const inWords = (times: readonly (readonly number[])[]): string =>
  `${times.map((some) => shortest(some).toFixed(2)).join(" → ")} ms (${times.map((some) => median(some).toFixed(2)).join(" → ")})`;
