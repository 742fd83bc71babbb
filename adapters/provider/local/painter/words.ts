/**
 * The features that a prompt can name, with their words (whole words, or the first part of one such as "snow-covered";
 * `*` matches any ending, `_` matches blanks).
 */
const VOCABULARY = {
  golden: "golden",
  sunset: "sunset* evening dusky",
  sunrise: "sunrise* dawn morning daybreak",
  dusk: "dusk twilight gloaming",
  night: "night* midnight moonlit moonlight starry stars starlight nocturnal",
  day: "day daylight noon midday sunny bright",
  storm: "storm* thunder* lightning tempest hurricane rain* downpour",
  overcast: "overcast cloudy grey gray gloomy drizzle dull",
  clear: "clear cloudless",
  fog: "fog* mist* haze hazy smoke smoky",
  snow: "snow* winter* ice icy frozen frost* arctic polar glacier* alaska antarctic* christmas",
  autumn: "autumn* fall october foliage",
  spring: "spring blossom* cherry sakura flower* wildflower* tulip* bloom*",
  lavender: "lavender*",
  aurora: "aurora* borealis northern_lights",
  moon: "moon moonlit moonlight",
  moons: "moons",
  mountains: "mountain* alp alps alpine peak* himalaya* summit* rocky rockies cliff* valley* fjord* canyon* highland*",
  hills: "hill* countryside rolling farmland vineyard* tuscan* tuscany",
  meadow: "meadow* grass* prairie field* pasture* steppe savanna* park plain plains",
  forest: "forest* wood woods woodland* tree* pine* jungle* rainforest taiga grove redwood*",
  cactus: "cactus cacti saguaro",
  desert: "desert* cactus cacti saguaro dune* sahara sand* arid oasis egypt* gobi",
  ocean: "ocean* sea seas seaside marine sail* waves pacific atlantic island* archipelago horizon",
  lake: "lake* pond reflection* loch river* lagoon fjord* harbour harbor bay water reservoir",
  beach: "beach* shore* coast* tropical palm palms caribbean maldives hawaii* bali paradise",
  city: "city cities skyline* urban downtown skyscraper* metropolis street* town towers manhattan tokyo cyberpunk building*",
  neon: "neon cyberpunk synthwave vaporwave futuristic",
  space: "space galaxy galaxies nebula* cosmos cosmic interstellar universe orbit* starfield",
  mars: "mars martian",
  lunar: "lunar moonscape moon_surface surface_of_the_moon on_the_moon crater* apollo",
  alien: "alien* exoplanet* sci-fi scifi fantasy surreal dream* otherworldly magic* enchanted",
  planet: "planet* saturn jupiter ring rings",
  volcano: "volcan* lava magma eruption* inferno hell apocalyp*",
  underwater: "underwater undersea submarine reef* coral* diving seabed subaquatic aquarium atlantis",
  coral: "reef* coral*",
} as const satisfies Record<string, string>;

export type Feature = keyof typeof VOCABULARY;

/** A part that a participle follows still names the feature: "moon-lit", but not "snow-free" or "sand-coloured". */
const PARTICIPLE = "(?:(?!colou?red)\\p{L}+ed|lit|clad|swept|strewn)(?!\\p{L})";

const patterns = Object.entries(VOCABULARY).map(([feature, words]) => {
  const alternatives = words.replaceAll("*", "\\p{L}*").replaceAll(" ", "|").replaceAll("_", "\\s+");
  return [
    feature as Feature,
    new RegExp(`(?<![\\p{L}-])(?:${alternatives})(?!\\p{L}|-(?!${PARTICIPLE}))`, "giu"),
  ] as const;
});

/** Where a prompt names which feature: from this character up to that one. */
export const matchesOf = (prompt: string): { feature: Feature; from: number; to: number }[] =>
  patterns.flatMap(([feature, pattern]) =>
    Array.from(prompt.matchAll(pattern), ({ 0: text, index }) => ({ feature, from: index, to: index + text.length })),
  );

export const featuresOf = (prompt: string): ReadonlySet<Feature> =>
  new Set(matchesOf(prompt).map(({ feature }) => feature));
