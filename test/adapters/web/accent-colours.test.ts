import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  accentContrast,
  accentStyle,
  CONTRAST_MIN,
  type Colour,
  contrast,
  mixedColour,
} from "../../../adapters/web/accent-colours.js";

const colour = fc.nat(0xffffff).map((value): Colour => `#${value.toString(16).padStart(6, "0")}`);

/** What the pages put text in these colours on (client/styles/tokens.css). */
const GROUNDS = { light: ["#fbfaf9", "#ffffff"], dark: ["#111217", "#1a1c23", "#0c0d13"] } as const;
const PANEL = { light: "#ffffff", dark: "#1a1c23" } as const;

/** The colours that the style sheet computes from the accent. */
const derived = (accent: Colour, scheme: "light" | "dark") => ({
  hover: mixedColour(accent, scheme === "light" ? "#000000" : "#ffffff", 0.15),
  onAccent: scheme === "light" ? ("#ffffff" as const) : mixedColour(accent, "#000000", 0.8),
  soft: mixedColour(PANEL[scheme], accent, 0.1),
});

describe("the accent of an operator", () => {
  it("contrast equals the formula of WCAG", () => {
    expect(contrast("#ffffff", "#000000")).toBe(21);
    expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
    expect(contrast("#3d50d0", "#3d50d0")).toBe(1);
  });

  it("the accent of this software passes its own check", () => {
    expect(accentContrast("#3d50d0", "light")).toBeGreaterThan(CONTRAST_MIN);
    expect(accentContrast("#aab6ff", "dark")).toBeGreaterThan(CONTRAST_MIN);
  });

  it("computes the other colours in the style sheet", async () => {
    const styles = await readFile("adapters/web/client/styles/tokens.css", "utf8");
    for (const rule of [
      "--accent-hover: color-mix(in srgb, var(--accent), light-dark(#000000, #ffffff) 15%);",
      "--on-accent: light-dark(#ffffff, color-mix(in srgb, var(--accent), #000000 80%));",
      "--soft: color-mix(in srgb, var(--panel), var(--accent) 10%);",
    ])
      expect(styles).toContain(rule);
    expect(accentStyle({ onLight: "#0b6e5f", onDark: "#7fd0c2" })).toBe(
      ":root{--brand:#0b6e5f;--accent:light-dark(#0b6e5f,#7fd0c2)}",
    );
  });

  it.each(["light", "dark"] as const)(
    "has readable text in and on it in the %s scheme, for random accents",
    (scheme) => {
      fc.assert(
        fc.property(colour, (accent) => {
          fc.pre(accentContrast(accent, scheme) >= CONTRAST_MIN); // others are refused by the settings
          const { hover, onAccent, soft } = derived(accent, scheme);
          for (const ground of [...GROUNDS[scheme], soft]) {
            expect(contrast(accent, ground)).toBeGreaterThanOrEqual(CONTRAST_MIN);
          }
          for (const fill of [accent, hover]) expect(contrast(onAccent, fill)).toBeGreaterThanOrEqual(CONTRAST_MIN);
        }),
      );
    },
  );
});
