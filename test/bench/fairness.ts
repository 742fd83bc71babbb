import { compare } from "./fairness/compare.js";
import { openFloods } from "./fairness/floods.js";
import { databasesOf, type Scenario } from "./rig.js";

/*
 * One hostile client at the limits of a resource, and another customer who does the same, for each resource. Fails if
 * the attack slows the customer by more than two times, or if the customer is refused. `-- --database sqlite` or
 * `postgres` measures one database, `-- --row forms` the rows that begin so.
 */
export const scenario: Scenario<"database" | "row"> = {
  options: { database: "", row: "" },
  run: async (rig, { database, row }) => {
    for (const kind of databasesOf(database)) {
      const contests = (await openFloods(rig, kind)).filter(({ name }) => name.startsWith(row));
      for (const contest of contests) rig.problems.push(...(await compare(contest)));
      await rig.close();
    }
  },
};
