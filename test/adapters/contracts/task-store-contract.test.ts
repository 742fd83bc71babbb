import { expect, it } from "vitest";
import { describeTaskStore } from "../../../adapters/contracts/task-store-contract.js";

/** The names of the groups that the suite registers. */
const groupsOf = (...abilities: [{ readonly queue: boolean }?]): readonly string[] => {
  const groups: string[] = [];
  const describe = (name: string, register: () => void) => {
    groups.push(name);
    register();
  };
  const ignore = () => {};
  const test = { describe, it: ignore, beforeEach: ignore, afterEach: ignore };
  describeTaskStore(test, "in a test", () => Promise.reject(new Error("no test runs")), ...abilities);
  return groups;
};

it("tests the queue of a TaskStore, unless it has none", () => {
  const queue = ["queue", "of a provider with several places"];
  expect(groupsOf().filter((name) => queue.includes(name))).toEqual(queue);
  expect(groupsOf({ queue: false })).toEqual(groupsOf().filter((name) => !queue.includes(name)));
});
