import type { DatabaseKind, Rig } from "../rig.js";
import { COMMAND_NOISE, readingCommands } from "./commands.js";
import { GrownService } from "./grown-service.js";
import { ROUTES } from "./requests.js";
import { FULL, type Member, member, type Size, seedCrowd, seedMember, seedSearch, YOUNG } from "./seed.js";
import type { Measured } from "./slower.js";

const CROWD_OF_SMALL = 300;
const TASKS_OF_CROWD = 3;
const ROUTE_NOISE = 1;

/**
 * Opens a young account on a small database, and a young and an old one on a large database. Pages that show more tasks
 * than a young account has take longer by design; there, an account whose tasks just fill the page takes its place.
 */
export const openGrowth = async (rig: Rig, kind: DatabaseKind, old: Size, crowd: number) => {
  const now = new Date();
  const [youngOne, fullOne, oldOne] = [member("young", YOUNG, now), member("full", FULL, now), member("old", old, now)];
  const start = (accounts: number, members: readonly (readonly [Member, Size])[]) =>
    GrownService.start(rig, kind, async (run, dialect) => {
      await seedCrowd(run, dialect, { accounts, tasksEach: TASKS_OF_CROWD }, now);
      for (const [who, size] of members) await seedMember(run, dialect, who, size, now);
      await seedSearch(run, dialect);
    });
  const both = [
    [youngOne, YOUNG],
    [fullOne, FULL],
  ] as const;
  const small = await start(CROWD_OF_SMALL, both);
  const large = await start(crowd, [...both, [oldOne, old]]);

  const requests = Object.entries(ROUTES).flatMap(([route, rows]): Measured[] =>
    typeof rows === "string"
      ? []
      : Object.entries(rows).map(([what, make]) => {
          const method = route.slice(0, route.indexOf(" "));
          const base = make(youngOne, 0).isLarge ? fullOne : youngOne;
          const subjects = [
            [small, base],
            [large, base],
            [large, oldOne],
          ] as const;
          return {
            name: `${route} ${what}`,
            noise: ROUTE_NOISE,
            subjects: subjects.map(
              ([service, who]) =>
                (run) =>
                  service.milliseconds(method, make(who, run)),
            ),
          };
        }),
  );
  const commands = readingCommands(youngOne).map(
    ({ command, values }): Measured => ({
      name: command.words,
      noise: COMMAND_NOISE,
      subjects: [small, large].map(
        ({ service }) =>
          () =>
            timed(async () => {
              if ((await command.run(service, values)).isErr()) throw new Error(`${command.words} fails`);
            }),
      ),
    }),
  );
  const scrape: Measured = {
    name: "what is unfinished, for a scrape",
    noise: ROUTE_NOISE,
    subjects: [small, large].map(
      ({ readBacklog }) =>
        () =>
          timed(readBacklog),
    ),
  };
  return { routes: small.routes, measured: [...requests, ...commands, scrape] };
};

export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};
