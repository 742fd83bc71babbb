import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../../support/postgres.js";
import { DATABASES, Rig } from "../rig.js";
import { type Contest, compare } from "./compare.js";
import { openFloods } from "./floods.js";
import { ROWS } from "./rows.js";

describe.each(DATABASES)("one hostile client of the service on %s slows others by two times at most", (kind) => {
  const rig = new Rig(freshDatabase);
  let contests: readonly Contest[] = [];
  beforeAll(async () => {
    contests = await openFloods(rig, kind);
  });
  afterAll(() => rig.close());

  it.each(ROWS.map(({ name }) => name))("with %s", async (name) => {
    const contest = contests.find((one) => one.name === name);
    expect(contest && (await compare(contest))).toEqual([]);
  });
});
