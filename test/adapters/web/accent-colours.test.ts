import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  accentContrast,
  accentStyle,
  CONTRAST_MIN,
  type Colour,
  contrast,
  readableAccent,
} from "../../../adapters/web/accent-colours.js";

const colour = fc.nat(0xffffff).map((value): Colour => `#${value.toString(16).padStart(6, "0")}`);

/** What the pages put text in these colours on (client/styles/colours.css). */
const GROUNDS = { light: ["#fbfaf9", "#ffffff"], dark: ["#111217", "#1a1c23", "#0c0d13"] } as const;

/** The colours of a style in one scheme, by their names. */
const coloursIn = (style: string, scheme: "light" | "dark"): Readonly<Record<string, Colour>> =>
  Object.fromEntries(
    [...style.matchAll(/(--[\w-]+):(?:light-dark\((#\w+),(#\w+)\)|(#\w+))/g)].map(([, name, light, dark, both]) => [
      name,
      both ?? (scheme === "light" ? light : dark),
    ]),
  );

describe("the accent of an operator", () => {
  it("contrast equals the formula of WCAG", () => {
    expect(contrast("#ffffff", "#000000")).toBe(21);
    expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
    expect(contrast("#3d50d0", "#3d50d0")).toBe(1);
  });

  it("the accent of this software passes its own check", () => {
    expect(accentContrast("#3d50d0", "light")).toBeGreaterThan(CONTRAST_MIN);
    expect(accentContrast("#aab6ff", "dark")).toBeGreaterThan(CONTRAST_MIN);
    expect(readableAccent("#3d50d0", "light")).toBe("#3d50d0");
  });

  it.each(["light", "dark"] as const)(
    "has readable text in and on it in the %s scheme, for random accents",
    (scheme) => {
      fc.assert(
        fc.property(colour, colour, (one, other) => {
          // As the settings take it: what an operator gives, if it passes the check, or else what the error suggests.
          const taken = (accent: Colour, where: "light" | "dark") =>
            accentContrast(accent, where) >= CONTRAST_MIN ? accent : readableAccent(accent, where);
          const style = accentStyle({ onLight: taken(one, "light"), onDark: taken(other, "dark") });
          const colours = coloursIn(style, scheme);
          const of = (name: string): Colour => colours[name] ?? "#000000";
          expect(Object.keys(colours)).toHaveLength(5);
          for (const ground of [...GROUNDS[scheme], of("--soft")]) {
            expect(contrast(of("--accent"), ground)).toBeGreaterThanOrEqual(CONTRAST_MIN);
          }
          for (const fill of ["--accent", "--accent-hover"]) {
            expect(contrast(of("--on-accent"), of(fill))).toBeGreaterThanOrEqual(CONTRAST_MIN);
          }
          expect(contrast("#ffffff", of("--brand"))).toBeGreaterThanOrEqual(CONTRAST_MIN);
        }),
      );
    },
  );
});
