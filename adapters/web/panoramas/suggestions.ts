/** Suggested prompts and hints. Every suggested prompt must give a good picture with the model behind it. */
export type Suggestions = {
  /** Links below the prompt of the landing page, and what its "Surprise me" chooses from. */
  readonly examples: readonly string[];
  readonly surprises: readonly [string, ...string[]];
  /** A sentence about the subjects that the model supports. Absent if it supports all. */
  readonly offer?: string;
};

/** For models that understand any sentence. */
export const ANY_PLACE: Suggestions = {
  examples: ["Neon city in the rain", "Inside a glacier", "Lavender at dusk"],
  surprises: [
    "Northern lights over a frozen lake",
    "Dunes under two moons",
    "Crystal cave with a hidden lake",
    "Coral reef in clear water",
    "Pine forest in the morning mist",
    "Cosy living room with a view of the sea",
    "Above the rings of a planet",
    "Autumn valley at sunrise",
  ],
};

/** For the local painter, which knows some words only. */
export const DEMO_PLACES: Suggestions = {
  examples: ["Neon city in the rain", "Northern lights over a frozen lake", "Lavender at dusk"],
  surprises: [
    "Dunes under two moons",
    "A volcano at night",
    "Coral reef in clear water",
    "Forest in snow",
    "Tropical beach at dusk",
    "Above the rings of a planet",
    "Autumn valley at sunrise",
  ],
  offer: "This demo draws with rules. It knows words for landscapes, sea, city and space.",
};
