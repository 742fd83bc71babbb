import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesOf } from "./cases.js";
import { type OpenDatabase, openDatabase } from "./databases.js";
import { SCENARIOS } from "./scenarios.js";

/** Every so many cases; `npm run verify faults` runs all of them. */
const EVERY = 200;

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase("sqlite");
});
afterAll(() => open.remove());

describe("a sample of the fault matrix on SQLite", () => {
  let index = 0;

  it.each(SCENARIOS)("ends every task and keeps the ledger exact: $name", async (scenario) => {
    const wrong: string[] = [];
    for (const { name, fault, run } of await casesOf(open.database, scenario)) {
      index += 1;
      if (fault !== "no fault" && index % EVERY !== 0) continue;
      for (const finding of (await run()).findings) wrong.push(`${name}: ${finding}`);
    }
    expect(wrong).toEqual([]);
  });
});
