import { expect, it } from "vitest";
import { parseTaskId, taskId } from "../../domain/ids.js";

it.each(["pan_1", "A-Z_09", "x".repeat(64)])("a task id may be %j", (text) => {
  expect(parseTaskId(text)).toBe(text);
});

it.each(["", "two words", "a/b", "x\u0000", "x".repeat(65)])("a task id cannot be %j, so no lookup is made", (text) => {
  expect(parseTaskId(text)).toBeUndefined();
});

it("taskId accepts a valid constant, and throws for other text", () => {
  expect(taskId("pdf_1")).toBe("pdf_1");
  expect(() => taskId("")).toThrow(
    new RangeError('"" cannot be a task id: 1 to 64 of the characters A-Z, a-z, 0-9, _ and -'),
  );
});
