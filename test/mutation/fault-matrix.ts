import { expect, it } from "vitest";
import { memoryDatabase } from "../../adapters/persistence/memory-stores.js";
import { casesOf } from "../faults/cases.js";
import { allowDeletions } from "../faults/databases.js";
import { SCENARIOS } from "../faults/scenarios.js";

/** Every so many cases of each scenario, and the one without a fault. */
const EVERY = 100;

it.each(SCENARIOS)("keeps what the fault matrix finds: $name", async (scenario) => {
  const database = memoryDatabase();
  await allowDeletions(database);
  const wrong: string[] = [];
  for (const [index, { name, run }] of (await casesOf(database, scenario)).entries()) {
    if (index % EVERY !== 0) continue;
    for (const finding of (await run()).findings) wrong.push(`${name}: ${finding}`);
  }
  expect(wrong).toEqual([]);
});
