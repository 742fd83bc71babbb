import { expect, it } from "vitest";
import { entryNotes, entryReason } from "../../../domain/credits/meter-entry.js";

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`key-${n}`, "x"]));

it("entryNotes keeps what is given, up to its limits, and nothing else", () => {
  const most = { description: "x".repeat(500), metadata: { ...pairs(15), ["k".repeat(40)]: "v".repeat(500) } };
  expect(entryNotes(most)).toStrictEqual(most);
  expect(entryNotes({ description: undefined, metadata: {} })).toStrictEqual({});
});

it.each([
  [{ description: "x".repeat(501) }, "The description must be text of at most 500 characters that can be stored."],
  [{ description: ["x"] as unknown as string }, "The description must be text"],
  [{ metadata: pairs(17) }, "The metadata has 17 pairs, more than 16."],
  [{ metadata: { ["k".repeat(41)]: "" } }, "A key of the metadata must be text of at most 40"],
  [{ metadata: { a: "a\u0000" } }, "metadata.a must be text of at most 500"],
])("entryNotes refuses %j", (notes, message) => {
  expect(() => entryNotes(notes)).toThrow(message);
});

it("entryReason trims a reason and refuses an empty one", () => {
  expect(entryReason(" For the outage ")).toBe("For the outage");
  expect(() => entryReason(" ")).toThrow('" " cannot be a reason: 1 to 200 characters that can be stored');
});
