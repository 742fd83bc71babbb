/** Suggested prompts and hints. Every suggested prompt must give a good picture with the model behind it. */
export type Suggestions = {
  /** Links below the prompt of the landing page, and what its "Surprise me" chooses from. */
  readonly examples: readonly string[];
  readonly surprises: readonly [string, ...string[]];
  /** Subjects that the model supports. Absent if it supports all. */
  readonly offer?: {
    readonly sentence: string;
    /** True if the model knows the subject of the prompt. Otherwise the picture has nothing to do with the prompt. */
    readonly knows: (prompt: string) => boolean;
  };
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

/** For the local painter, which knows some words only. `knows`: its vocabulary. */
export const demoPlaces = (knows: (prompt: string) => boolean): Suggestions => ({
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
  offer: { sentence: "Demo painter: landscapes, sea, city and space.", knows },
});
