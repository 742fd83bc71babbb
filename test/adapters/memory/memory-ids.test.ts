import { describe, expect, it } from "vitest";
import { MemoryIds } from "../../../adapters/memory/memory-ids.js";
import { RandomIds } from "../../../adapters/system/random-ids.js";
import { describeIds } from "../../contracts/ids-contract.js";

describeIds("MemoryIds", () => new MemoryIds());
describeIds("RandomIds", () => new RandomIds());

describe("MemoryIds", () => {
  it("makes the same ids in each run", () => {
    const ids = new MemoryIds();
    expect([ids.taskId(), ids.accountId(), ids.taskId()]).toEqual([
      "task_0000000001",
      "account_0000000002",
      "task_0000000003",
    ]);
  });
});
