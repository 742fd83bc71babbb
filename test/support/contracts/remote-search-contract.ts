import { expect, it } from "vitest";
import { noon, taskId } from "../../../adapters/contracts/support/builders.js";
import { advanceUntil } from "../advance-until.js";
import { FAULTS, type Fault } from "../faulty-server.js";
import type { RemoteSetup } from "./remote-setup.js";

/** How a RemoteProvider finds the task of a lost creation. */
export const describeRemoteSearch = (on: RemoteSetup): void => {
  const { anOrder } = on;

  it("finds the task of a lost submission on a later page, although the first read fails", async () => {
    on.remote.fake.faults.creates.push(FAULTS.cutAfter);
    expect((await on.remote.provider.submit(anOrder(7)))._unsafeUnwrapErr().kind).toBe("unknown");
    for (let n = 10; n < 130; n += 1)
      on.remote.fake.tasks.push({ id: `${1000 + n}`, input: { seed: n }, state: "run" });
    on.remote.fake.faults.lists.push(FAULTS.cutBefore);
    const found = on.remote.provider.search(taskId(7), noon);
    await advanceUntil(on.clock, found);
    const { upstreamTaskIdOf = (id: string) => id } = on.defaults;
    expect((await found)._unsafeUnwrap()).toBe(upstreamTaskIdOf(on.remote.fake.tasks[0]?.id ?? ""));
  });

  it.each<[string, Fault]>([
    ["status 500", FAULTS.failsBefore],
    ["cut connections", FAULTS.cutBefore],
    ["HTML instead of JSON", FAULTS.html],
    ["JSON that is not a list", FAULTS.noId],
  ])("reports a search as unavailable when every read fails with %s", async (_, fault) => {
    on.remote.fake.faults.lists.push(...Array.from({ length: 3 }, () => fault));
    const found = on.remote.provider.search(taskId(7), noon);
    await advanceUntil(on.clock, found);
    expect((await found)._unsafeUnwrapErr().kind).toBe("provider_unavailable");
  });
};
