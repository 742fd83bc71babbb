import { expect, it } from "vitest";
import { declarationMap } from "../bootstrap/packages/declaration-map.js";
import { moduleReference } from "../bootstrap/packages/reference.js";

const DECLARATIONS = `import { type Result } from "neverthrow";
/** A picture. */
export type Picture = {
    /** In pixels. */
    readonly width: number;
};
/**
 * Opens a picture.
 * Throws if there is none:
 *
 *   closed ──open──▶ open
 */
export declare const open: (name: string) => Picture;
export declare class Frame {
    private readonly hidden;
    get width(): number;
    paint(picture: Picture): Result<void, string>;
}
export {};
`;

it("the reference of a module has the comment and the declaration of each export, without what is private", () => {
  expect(moduleReference("panorama-core/picture", DECLARATIONS)).toBe(`## panorama-core/picture

### Picture

A picture.

\`\`\`ts
type Picture = {
    /** In pixels. */
    readonly width: number;
};
\`\`\`

### open

Opens a picture.
Throws if there is none:

      closed ──open──▶ open

\`\`\`ts
const open: (name: string) => Picture;
\`\`\`

### Frame

\`\`\`ts
class Frame {
    get width(): number;
    paint(picture: Picture): Result<void, string>;
}
\`\`\``);
});

it("a declaration map leads from each name to the same name in the source", () => {
  const source = [
    'import { Paint } from "./paint.js";',
    "const hidden = 1;",
    "export type Picture = { readonly width: number };",
    "export const open = (name: string): Picture => { const width = 2; return { width }; };",
  ].join("\n");
  const { mappings, ...map } = JSON.parse(declarationMap("picture.d.ts", DECLARATIONS, "../picture.ts", source));
  expect(map).toEqual({ version: 3, file: "picture.d.ts", sourceRoot: "", sources: ["../picture.ts"], names: [] });
  expect(decoded(mappings)).toEqual([
    // line and column in the declarations, then in the source, all from 0
    [2, 12, 2, 12], // Picture
    [4, 13, 2, 33], // Picture.width
    [12, 21, 3, 13], // open
  ]);
});

/** The reverse of what the map does, so that a mistake is not made twice the same way: bit by bit. */
const decoded = (mappings: string): number[][] => {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const places: number[][] = [];
  let [line, character] = [0, 0];
  mappings.split(";").forEach((segments, generatedLine) => {
    let column = 0;
    for (const segment of segments.split(",").filter((text) => text !== "")) {
      const numbers: number[] = [];
      let bits = "";
      for (const digit of segment) {
        const six = digits.indexOf(digit).toString(2).padStart(6, "0");
        bits = six.slice(1) + bits;
        if (six.startsWith("1")) continue;
        const value = Number.parseInt(bits, 2);
        numbers.push(value % 2 === 1 ? -(value - 1) / 2 : value / 2);
        bits = "";
      }
      column += numbers[0] ?? 0;
      line += numbers[2] ?? 0;
      character += numbers[3] ?? 0;
      places.push([generatedLine, column, line, character]);
    }
  });
  return places;
};
