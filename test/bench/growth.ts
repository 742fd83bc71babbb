import { openGrowth } from "./growth/growth.js";
import { findSlower } from "./growth/slower.js";
import { databasesOf, type Scenario } from "./rig.js";

/*
 * Each route, and each command that reads, for a young account on a small database, and for a young and an old one on a
 * large database. Fails if one takes more than 1.5 times as long. `-- --tasks 1000000 --crowd 100000` sets the tasks of
 * the old account and the number of other accounts, `--database` one of the databases.
 */
export const scenario: Scenario<"database" | "tasks" | "crowd"> = {
  options: { database: "", tasks: "50000", crowd: "20000" },
  run: async (rig, { database, tasks, crowd }) => {
    for (const kind of databasesOf(database)) {
      console.log(kind);
      const { measured } = await openGrowth(rig, kind, { tasks: Number(tasks), others: 500 }, Number(crowd));
      rig.problems.push(...(await findSlower(measured)));
      await rig.close();
    }
  },
};
