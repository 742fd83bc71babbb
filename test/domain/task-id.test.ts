import { expect, it } from "vitest";
import { parseTaskId } from "../../domain/task-id.js";

it.each(["pan_1", "A-Z_09", "x".repeat(64)])("a task id may be %j", (text) => {
  expect(parseTaskId(text)).toBe(text);
});

it.each(["", "two words", "a/b", "x\u0000", "x".repeat(65)])("a task id cannot be %j, so no lookup is made", (text) => {
  expect(parseTaskId(text)).toBeUndefined();
});
