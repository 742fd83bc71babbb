import { colour } from "./colour.js";
import type { Ground, Land, PropSet, Relief, Water } from "./scene.js";
import type { SkyName } from "./sky-palettes.js";
import type { Feature } from "./words.js";

const RELIEFS = {
  mountains: {
    shape: "eroded",
    heightMetres: 2600,
    wavelengthMetres: 5200,
    nearMetres: 500,
    farMetres: 6500,
    baseMetres: 3,
    rollMetres: 9,
    tilt: 0,
  },
  lakeside: {
    shape: "eroded",
    heightMetres: 2300,
    wavelengthMetres: 4600,
    nearMetres: 380,
    farMetres: 6000,
    baseMetres: -5,
    rollMetres: 8,
    tilt: 0,
  },
  hills: {
    shape: "soft",
    heightMetres: 190,
    wavelengthMetres: 900,
    nearMetres: 40,
    farMetres: 1800,
    baseMetres: 2,
    rollMetres: 6,
    tilt: 0,
  },
  plain: {
    shape: "soft",
    heightMetres: 70,
    wavelengthMetres: 1800,
    nearMetres: 100,
    farMetres: 3000,
    baseMetres: 2,
    rollMetres: 3,
    tilt: 0,
  },
  dunes: {
    shape: "dunes",
    heightMetres: 80,
    wavelengthMetres: 210,
    nearMetres: 6,
    farMetres: 170,
    baseMetres: 0,
    rollMetres: 3,
    tilt: 0,
  },
  islands: {
    shape: "eroded",
    heightMetres: 620,
    wavelengthMetres: 4200,
    nearMetres: 1500,
    farMetres: 6000,
    baseMetres: -150,
    rollMetres: 20,
    tilt: 0,
  },
  beach: {
    shape: "eroded",
    heightMetres: 420,
    wavelengthMetres: 2600,
    nearMetres: 900,
    farMetres: 4200,
    baseMetres: 1.4,
    rollMetres: 1,
    tilt: 0.11,
  },
  harbour: {
    shape: "soft",
    heightMetres: 14,
    wavelengthMetres: 500,
    nearMetres: 300,
    farMetres: 480,
    baseMetres: -4,
    rollMetres: 0.5,
    tilt: 0,
  },
  craters: {
    shape: "craters",
    heightMetres: 130,
    wavelengthMetres: 900,
    nearMetres: 5,
    farMetres: 500,
    baseMetres: 0,
    rollMetres: 4,
    tilt: 0,
  },
  mesas: {
    shape: "eroded",
    heightMetres: 900,
    wavelengthMetres: 3000,
    nearMetres: 60,
    farMetres: 5200,
    baseMetres: 0,
    rollMetres: 7,
    tilt: 0,
  },
  seabed: {
    shape: "soft",
    heightMetres: 26,
    wavelengthMetres: 46,
    nearMetres: 6,
    farMetres: 60,
    baseMetres: 0,
    rollMetres: 3,
    tilt: 0,
  },
} as const satisfies Record<string, Relief>;

type GroundColours = readonly [low: string, lowOther: string, steep: string, shore: string];

const ground = ([low, lowOther, steep, shore]: GroundColours, snowLineMetres = 1250): Ground => ({
  low: colour(low),
  lowOther: colour(lowOther),
  steep: colour(steep),
  shore: colour(shore),
  snow: colour("#b9c6d8"),
  snowLineMetres,
  mottling: 1,
  dots: undefined,
  furrows: undefined,
  lava: false,
});

const GREEN = ground(["#4c6a2c", "#7a8a42", "#6d665c", "#9a8c6c"]);
const FOREST = ground(["#33482a", "#56602f", "#5f5a50", "#7c7258"]);
const AUTUMN = ground(["#8a6a2c", "#a8602a", "#6d6258", "#8c7a5c"]);
const SNOWY: Ground = { ...ground(["#9fafc9", "#c3cfe0", "#777b83", "#b4c2d4"], 0), mottling: 0.35 };
const LAVENDER: Ground = { ...ground(["#5f3fa0", "#9a72d0", "#6d665c", "#7a8a42"], 1e9), furrows: colour("#5d6b35") };
const SAND: Ground = { ...ground(["#d9ad74", "#e6c08a", "#c99a62", "#d9ad74"], 1e9), mottling: 0.28 };
const MARTIAN: Ground = { ...ground(["#a85a34", "#c47a4c", "#7c4630", "#a85a34"], 1e9), mottling: 0.45 };
const LUNAR: Ground = { ...ground(["#8a8885", "#a5a29d", "#6c6a68", "#8a8885"], 1e9), mottling: 0.5 };
const BEACH: Ground = { ...ground(["#ecd9b0", "#f3e5c4", "#7a7a5c", "#d8c090"], 1e9), mottling: 0.25 };
const BASALT: Ground = { ...ground(["#2a2524", "#3a3230", "#1e1a1a", "#2a2524"], 1e9), lava: true };
const SEABED: Ground = { ...ground(["#c9c08c", "#a8ad84", "#5c7468", "#c9c08c"], 1e9), mottling: 0.5 };
const CITY = ground(["#4a4c50", "#5a5c5e", "#4a4c50", "#5a5650"], 1e9);
const ALIEN = ground(["#4a3a6a", "#7a4a78", "#3a3450", "#8a6a90"], 1700);

const LAKE: Water = { deep: colour("#0b3242"), shallow: colour("#2f7480"), roughness: 0.22 };
const SEA: Water = { deep: colour("#06304a"), shallow: colour("#15688a"), roughness: 0.8 };
const LAGOON: Water = { deep: colour("#0d7f9c"), shallow: colour("#4fd0cc"), roughness: 0.5 };
const BAY: Water = { deep: colour("#0a2638"), shallow: colour("#1d5068"), roughness: 0.34 };

const props = (
  kind: PropSet["kind"],
  [one, other, ...more]: readonly [string, string, ...string[]],
  rest: Partial<PropSet>,
): PropSet => ({
  kind,
  colours: [colour(one), colour(other), ...more.map(colour)],
  density: 0.5,
  nearMetres: 40,
  farMetres: 2500,
  heightMetres: 16,
  groundMetresMax: 700,
  snowy: false,
  lit: 0,
  ...rest,
});

const CONIFERS = props("conifer", ["#16261a", "#3f5c34"], { heightMetres: 19 });
const SNOWY_CONIFERS = props("conifer", ["#1a2a26", "#3a5044"], { heightMetres: 19, snowy: true });
const LEAVES = props("broadleaf", ["#24401a", "#6c8c34"], { heightMetres: 13 });
const AUTUMN_LEAVES = props("broadleaf", ["#8a2f12", "#f0a030"], { heightMetres: 14, density: 0.75 });
const BLOSSOMS = props("broadleaf", ["#b8607e", "#ffd0dc"], { heightMetres: 10, density: 0.4 });
const PALMS = props("palm", ["#1f4a20", "#6f9a3a"], {
  heightMetres: 13,
  density: 0.5,
  nearMetres: 16,
  farMetres: 400,
  groundMetresMax: 40,
});
const CACTI = props("cactus", ["#2c4a2a", "#5f7f4a"], {
  heightMetres: 5,
  density: 0.07,
  nearMetres: 14,
  farMetres: 500,
});
const KELP = props("kelp", ["#1d4a30", "#6a8a3c"], { heightMetres: 9, density: 0.12, nearMetres: 7, farMetres: 90 });
const CORALS = props("coral", ["#ff5a7a", "#ff9a3c", "#c05ad8", "#ffd45a", "#f0e6dc"], {
  heightMetres: 2.4,
  density: 0.8,
  nearMetres: 3,
  farMetres: 70,
});
const TOWERS = props("tower", ["#4c535e", "#a39a90"], {
  heightMetres: 210,
  density: 1,
  nearMetres: 430,
  farMetres: 2400,
});

const LIT_WINDOWS: Partial<Record<SkyName, number>> = {
  night: 0.34,
  dusk: 0.4,
  neon: 0.5,
  sunset: 0.3,
  storm: 0.35,
  overcast: 0.15,
};

type OnLand = { readonly water?: Water; readonly props?: PropSet };

/** The first land that matches the words of the prompt, or a random one. */
export const landOf = (features: ReadonlySet<Feature>, sky: SkyName, random: () => number): Land => {
  const has = (...wanted: readonly Feature[]): boolean => wanted.some((feature) => features.has(feature));
  const chance = random();
  const green = has("snow") ? SNOWY : has("autumn") ? AUTUMN : sky === "alien" ? ALIEN : GREEN;
  const soil: Ground = has("spring") && !has("snow") ? { ...green, dots: colour("#e070b0") } : green;
  const woodland = has("snow") ? SNOWY : has("autumn") ? AUTUMN : FOREST;
  const trees = has("snow") ? SNOWY_CONIFERS : has("autumn") ? AUTUMN_LEAVES : has("spring") ? BLOSSOMS : CONIFERS;
  const leafy = has("snow") ? SNOWY_CONIFERS : has("autumn") ? AUTUMN_LEAVES : has("spring") ? BLOSSOMS : LEAVES;
  const few = (some: PropSet, density: number, nearMetres: number): PropSet => ({ ...some, density, nearMetres });
  const land = (eyeMetres: number, relief: Relief, on: Ground, { water, props }: OnLand = {}): Land => ({
    eyeMetres,
    relief,
    ground: on,
    water,
    props,
  });

  if (has("coral")) return land(5, RELIEFS.seabed, SEABED, { props: CORALS });
  if (has("underwater")) return land(5, RELIEFS.seabed, SEABED, { props: KELP });
  if (sky === "airless") return land(9, RELIEFS.craters, LUNAR);
  if (has("mars")) return land(10, RELIEFS.mesas, MARTIAN);
  if (has("city", "neon"))
    return land(11, RELIEFS.harbour, CITY, { water: BAY, props: { ...TOWERS, lit: LIT_WINDOWS[sky] ?? 0.03 } });
  if (has("volcano")) return land(24, RELIEFS.mesas, BASALT);
  if (has("beach")) return land(4, RELIEFS.beach, BEACH, { water: LAGOON, props: PALMS });
  if (has("ocean"))
    return land(7, RELIEFS.islands, woodland, { water: has("storm") ? { ...SEA, roughness: 1.3 } : SEA });
  if (has("desert")) return land(8, RELIEFS.dunes, SAND, has("cactus") ? { props: CACTI } : {});
  if (has("lake")) return land(7, RELIEFS.lakeside, woodland, { water: LAKE, props: few(trees, 0.55, 320) });
  if (has("forest")) return land(7, RELIEFS.hills, woodland, { props: few(trees, 0.9, 15) });
  if (has("mountains")) return land(14, RELIEFS.mountains, soil, { props: few(trees, 0.35, 110) });
  if (has("lavender")) return land(6, RELIEFS.plain, LAVENDER, { props: few(LEAVES, 0.1, 160) });
  if (has("hills")) return land(14, RELIEFS.hills, soil, { props: few(leafy, 0.16, 45) });
  if (has("meadow", "spring")) {
    return land(6, chance < 0.5 ? RELIEFS.plain : RELIEFS.mountains, soil, { props: few(leafy, 0.12, 60) });
  }
  if (has("snow", "aurora"))
    return land(9, RELIEFS.lakeside, SNOWY, { water: LAKE, props: few(SNOWY_CONIFERS, 0.5, 320) });
  if (has("autumn")) return land(9, RELIEFS.hills, AUTUMN, { props: few(AUTUMN_LEAVES, 0.6, 25) });
  if (chance < 0.3) return land(7, RELIEFS.lakeside, FOREST, { water: LAKE, props: few(CONIFERS, 0.55, 320) });
  if (chance < 0.6) return land(14, RELIEFS.mountains, soil, { props: few(trees, 0.35, 110) });
  if (chance < 0.8) return land(14, RELIEFS.hills, soil, { props: few(leafy, 0.16, 45) });
  return land(7, RELIEFS.islands, FOREST, { water: SEA });
};
