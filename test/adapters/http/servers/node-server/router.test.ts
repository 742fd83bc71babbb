import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Router } from "../../../../../adapters/http/servers/node-server/node-routes.js";

const segment = fc.constantFrom("a", "b", "c", "");
const pattern = fc.array(fc.constantFrom("a", "b", ":first", ":second"), { minLength: 1, maxLength: 4 });
const shapeOf = (path: readonly string[]) => path.map((part) => (part.startsWith(":") ? ":" : part)).join("/");

/** Compares segment by segment: an exact one beats a parameter, and an earlier one counts more than a later one. */
const bestOf = (patterns: readonly (readonly string[])[], path: readonly string[]) =>
  patterns
    .filter(({ length }) => length === path.length)
    .filter((parts) => parts.every((part, n) => (part.startsWith(":") ? path[n] !== "" : part === path[n])))
    .map((parts) => ({ parts, rank: parts.map((part) => (part.startsWith(":") ? "1" : "0")).join("") }))
    .sort((a, b) => a.rank.localeCompare(b.rank))[0]?.parts;

describe("Router", () => {
  it("finds the pattern with the most exact segments, and the values of its parameters", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(pattern, { maxLength: 8, selector: shapeOf }),
        fc.array(segment, { minLength: 1, maxLength: 4 }),
        (patterns, path) => {
          const router = new Router<string>();
          for (const parts of patterns) router.add(`/${parts.join("/")}`, parts.join("/"));
          const best = bestOf(patterns, path);
          expect(router.find(`/${path.join("/")}`)).toEqual(
            best && {
              target: best.join("/"),
              parameters: Object.fromEntries(
                best.flatMap((part, n) => (part.startsWith(":") ? [[part.slice(1), path[n]]] : [])),
              ),
            },
          );
        },
      ),
    );
  });

  it("refuses two routes for the same path", () => {
    const router = new Router<number>();
    router.add("/a/:id", 1);
    expect(() => router.add("/a/:name", 2)).toThrow("There are two routes for /a/:name.");
  });
});
