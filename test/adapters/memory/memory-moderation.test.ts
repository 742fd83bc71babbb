import { describe, it } from "vitest";
import { describeModeration } from "../../../adapters/contracts/moderation-contract.js";
import { MemoryModeration } from "../../../adapters/memory/memory-moderation.js";

describeModeration({ describe, it }, "MemoryModeration", "blocked", () => {
  const moderation = new MemoryModeration();
  moderation.answers.set("blocked", "block");
  return moderation;
});
