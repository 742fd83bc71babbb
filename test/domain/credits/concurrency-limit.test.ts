import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { admitTask } from "../../../domain/credits/reservation.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";

it("admitTask admits five active tasks and refuses the sixth", () => {
  for (const active of [0, 1, 2, 3, 4]) expect(admitTask(active, PANORAMA_POLICY.activeMax)).toEqual(ok(active + 1));
  for (const active of [5, 6])
    expect(admitTask(active, PANORAMA_POLICY.activeMax)).toEqual(err({ kind: "too_many_active_tasks", limit: 5 }));
});
