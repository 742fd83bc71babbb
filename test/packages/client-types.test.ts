import { expect, it } from "vitest";
import { neededTypes } from "../../bootstrap/packages/build/client-types.js";

const typesOf = (modules: Readonly<Record<string, string>>) =>
  Object.fromEntries(neededTypes("client/client", (module) => modules[module] ?? ""));

const CLIENT = 'import type { Size, Unused } from "../size.js";\nexport declare const draw: (size: Size) => void;\n';

it("keeps the declarations that the exports of the client need, with their comments", () => {
  const kept = '/** All sizes. */\nexport declare const SIZES: {\n    readonly small: "large";\n};\n';
  const size = "export type Size = keyof typeof SIZES;\n";
  const left = 'import * as z from "zod";\nexport declare const large: z.ZodInt;\nexport type Unused = string;\n';
  expect(typesOf({ "client/client": CLIENT, size: left + kept + size })).toEqual({
    "client/client": CLIENT.replace(", Unused", ""),
    size: kept + size,
  });
});

it("follows exports of other modules, and types that the compiler imports in place", () => {
  const client = 'export type * from "./options.js";\nexport { type Size } from "../size.js";\n';
  const options = 'export type Options = import("../size.js").Width;\n';
  const size = "export type Size = number;\nexport type Width = number;\n";
  const modules = { "client/client": client, "client/options": options, size };
  expect(typesOf({ ...modules, size: `${size}export type Height = number;\n` })).toEqual(modules);
});

it("refuses a type of a package, and a name that no module declares", () => {
  const size = 'import * as z from "zod";\nexport type Size = z.infer<string>;\n';
  expect(() => typesOf({ "client/client": CLIENT, size })).toThrow("size need the package zod");
  expect(() => typesOf({ "client/client": CLIENT, size: "" })).toThrow("size declares no Size");
});
