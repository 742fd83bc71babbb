import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../../support/postgres.js";
import { DATABASES, Rig } from "../rig.js";
import { unnamedCommands } from "./commands.js";
import { openGrowth } from "./growth.js";
import { ROUTES } from "./requests.js";
import { OLD } from "./seed.js";
import { findSlower, SLOWDOWN_MAX } from "./slower.js";

const CROWD = 20_000;

/* No request costs more because its account is old, or because the service has many. */
describe.each(DATABASES)("the service on %s", (kind) => {
  const rig = new Rig(freshDatabase);
  let opened: Awaited<ReturnType<typeof openGrowth>>;
  beforeAll(async () => {
    opened = await openGrowth(rig, kind, OLD, CROWD);
  });
  afterAll(() => rig.close());

  it("measures every reading route and command, or names a reason", () => {
    const isFile = (route: string) => /^GET \/(static|assets|generations|downloads|docs|mcp)\b/.test(route);
    expect([...opened.routes].filter((route) => !isFile(route) && !(route in ROUTES))).toEqual([]);
    expect(unnamedCommands()).toEqual([]);
  });

  it(`takes at most ${SLOWDOWN_MAX} times as long for an old account among many`, async () => {
    expect(await findSlower(opened.measured)).toEqual([]);
  });
});
