import { openGrowth } from "./growth/growth.js";
import { compareSizes } from "./growth/sizes.js";
import { findSlower } from "./growth/slower.js";
import { databasesOf, type Scenario } from "./rig.js";

/*
 * Each route, and each command that reads, for a young account on a small database, and for a young and an old one on a
 * large database. Fails if one takes more than 1.5 times as long. `-- --tasks 1000000 --crowd 100000` sets the tasks of
 * the old account and the number of other accounts, `--database` one of the databases.
 *
 * `-- --millions 1` compares a database of 20,000 accounts and 1,000,000 tasks, of which one account has 100,000, with
 * one of a hundredth of its size: start, memory, disk space, background work, and the rest. Fails if what need not grow
 * takes more than twice as long.
 */
export const scenario: Scenario<"database" | "tasks" | "crowd" | "millions"> = {
  options: { database: "", tasks: "50000", crowd: "20000", millions: "" },
  run: async (rig, { database, tasks, crowd, millions }) => {
    for (const kind of databasesOf(database)) {
      console.log(kind);
      const slower =
        millions === ""
          ? await findSlower(
              (await openGrowth(rig, kind, { tasks: Number(tasks), others: 500 }, Number(crowd))).measured,
            )
          : await compareSizes(rig, kind, Number(millions));
      rig.problems.push(...slower);
      await rig.close();
    }
  },
};
