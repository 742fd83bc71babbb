import { RecentMap } from "../../../system/recent-map.js";
import { describedScene } from "./scene-of.js";
import { type Feature, matchesOf } from "./words.js";

/** Words of a prompt, each once. `leftOut`: known, but they do not fit to those that are drawn. */
export type PromptWords = Readonly<Record<"drawn" | "leftOut" | "unknown", readonly string[]>>;

/** Says nothing about a place. "without" and "no" are missing on purpose: the painter does not know them. */
const FILLERS = new Set(
  (
    "a an the of in on at by to from with and or for over under above below between into onto inside outside near " +
    "through along across around behind beside before after during is are it its this that as up down some view"
  ).split(" "),
);

const WORD = /\btest:[a-z-]+|[\p{L}\p{M}\p{N}]+(?:[-'’][\p{L}\p{M}\p{N}]+)*/giu;

/** Sorts the words of a prompt by what the painter makes of them. */
export const promptWords = (prompt: string): PromptWords => {
  const matches = matchesOf(prompt);
  const shown = shownFeatures(new Set(matches.map(({ feature }) => feature)));
  const seen = new Set<string>();
  const words = { drawn: [] as string[], leftOut: [] as string[], unknown: [] as string[] };
  for (const { 0: word, index } of prompt.matchAll(WORD)) {
    const lower = word.toLowerCase();
    if (seen.has(lower) || FILLERS.has(lower) || lower.startsWith("test:")) continue;
    seen.add(lower);
    const own = matches.filter(({ from, to }) => from < index + word.length && to > index);
    if (own.some(({ feature }) => shown.has(feature))) words.drawn.push(word);
    else if (own.length > 0) words.leftOut.push(word);
    else words.unknown.push(word);
  }
  return words;
};

/** What a picture of one feature also shows, although another word decides about it: `lake: mountains forest`. */
const ALSO = new Map(
  (
    "sunset: golden, sunrise: golden, dusk: sunset, golden: day, moon: night, aurora: night, neon: night city, " +
    "space: night, storm: overcast, fog: overcast, lake: mountains forest, mountains: forest meadow, forest: hills, " +
    "hills: meadow, spring: meadow, lavender: meadow, cactus: desert, mars: desert, lunar: space moon, " +
    "beach: ocean lake, city: ocean lake, volcano: mountains, coral: underwater ocean, underwater: ocean"
  )
    .split(", ")
    .map((entry) => entry.split(": ") as [string, string]),
);

/** What was found for a set of features: to find it takes 1 ms, and a page has many prompts. */
const found = new RecentMap<string, ReadonlySet<string>>(10_000);

function shownFeatures(features: ReadonlySet<Feature>): ReadonlySet<string> {
  const key = [...features].sort().join(" ");
  const known = found.get(key) ?? findShownFeatures(features);
  found.set(key, known);
  return known;
}

/** The features without which the picture would be another, and what these also show. */
const findShownFeatures = (features: ReadonlySet<Feature>): ReadonlySet<string> => {
  const needed = new Set(features);
  let whole = pictureOf(needed, "all");
  for (const feature of features) {
    const isSnow = feature === "snow"; // it also brings a low sun, which alone shows no snow
    const picture = isSnow ? pictureOf(needed, "ground") : whole;
    needed.delete(feature);
    if (pictureOf(needed, isSnow ? "ground" : "all") !== picture) needed.add(feature);
    else if (isSnow) whole = pictureOf(needed, "all");
  }
  return new Set([...needed, ...[...needed].flatMap((feature) => (ALSO.get(feature) ?? "").split(" "))]);
};

/** Several seeds: with one, chance may choose what a word asks for. */
const pictureOf = (features: ReadonlySet<Feature>, part: "ground" | "all"): string =>
  JSON.stringify(
    ["1", "2", "3", "4"].map((seed) => {
      const scene = describedScene(seed, features, undefined);
      return part === "all" ? scene : scene.land?.ground;
    }),
  );
