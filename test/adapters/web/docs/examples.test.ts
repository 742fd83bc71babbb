import { expect, it } from "vitest";
import { exampleOf } from "../../../../adapters/web/docs/examples.js";

it("an operation without a method of the typed client has the request as its example in TypeScript", () => {
  const operation = { operationId: "listEntries", summary: "List entries", responses: {} };
  const { code } = exampleOf({ method: "GET", path: "/credits/entries", operation }, "https://x.example/api/v1");
  expect(code.typescript).toBe(`const answer = await fetch("https://x.example/api/v1/credits/entries", {
  method: "GET",
  headers: { authorization: \`Bearer \${process.env.PANORAMA_API_KEY}\` },
});
if (!answer.ok) throw new Error(await answer.text());
console.log(await answer.json());`);
});
