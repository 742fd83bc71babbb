import { colour } from "./colour.js";
import type { Ground, Land, Props, Relief, Water } from "./scene.js";
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
    heightMetres: 62,
    wavelengthMetres: 260,
    nearMetres: 10,
    farMetres: 260,
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
    baseMetres: 1.1,
    rollMetres: 1.6,
    tilt: 0.05,
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

const ground = (low: string, lowOther: string, steep: string, shore: string, snowLineMetres = 1250): Ground => ({
  low: colour(low),
  lowOther: colour(lowOther),
  steep: colour(steep),
  shore: colour(shore),
  snow: colour("#f1f5fb"),
  snowLineMetres,
  dots: undefined,
  lava: false,
});

const GREEN = ground("#4c6a2c", "#7a8a42", "#6d665c", "#9a8c6c");
const FOREST = ground("#33482a", "#56602f", "#5f5a50", "#7c7258");
const AUTUMN = ground("#8a6a2c", "#a8602a", "#6d6258", "#8c7a5c");
const SNOWY = ground("#dfe7f1", "#f3f6fb", "#777b83", "#c4d0dc", 0);
const SAND = ground("#d9ad74", "#e6c08a", "#c99a62", "#d9ad74", 1e9);
const MARTIAN = ground("#a85a34", "#c47a4c", "#7c4630", "#a85a34", 1e9);
const LUNAR = ground("#8a8885", "#a5a29d", "#6c6a68", "#8a8885", 1e9);
const BEACH = ground("#ecd9b0", "#f3e5c4", "#7a7a5c", "#d8c090", 1e9);
const BASALT: Ground = { ...ground("#2a2524", "#3a3230", "#1e1a1a", "#2a2524", 1e9), lava: true };
const SEABED = ground("#c9c08c", "#a8ad84", "#5c7468", "#c9c08c", 1e9);
const CITY = ground("#4a4c50", "#5a5c5e", "#4a4c50", "#5a5650", 1e9);
const ALIEN = ground("#4a3a6a", "#7a4a78", "#3a3450", "#8a6a90", 1700);

const LAKE: Water = { deep: colour("#0b3242"), shallow: colour("#2f7480"), roughness: 0.22 };
const SEA: Water = { deep: colour("#06304a"), shallow: colour("#15688a"), roughness: 0.8 };
const LAGOON: Water = { deep: colour("#0d7f9c"), shallow: colour("#4fd0cc"), roughness: 0.5 };
const BAY: Water = { deep: colour("#0a2638"), shallow: colour("#1d5068"), roughness: 0.34 };

/** The land that the words name; the first that fits, or one by chance. */
export const landOf = (features: ReadonlySet<Feature>, sky: SkyName, random: () => number): Land => {
  const has = (...wanted: readonly Feature[]): boolean => wanted.some((feature) => features.has(feature));
  const chance = random();
  const green = has("snow") ? SNOWY : has("autumn") ? AUTUMN : sky === "alien" ? ALIEN : GREEN;
  const soil: Ground = has("spring") && !has("snow") ? { ...green, dots: colour("#e070b0") } : green;
  const water: Water | undefined = has("lake") ? LAKE : undefined;
  const land = (eyeMetres: number, relief: Relief, on: Ground, wet?: Water, props?: Props): Land => ({
    eyeMetres,
    relief,
    ground: on,
    water: wet,
    props,
  });

  if (has("underwater")) return land(5, RELIEFS.seabed, SEABED);
  if (has("lunar") || sky === "airless") return land(9, RELIEFS.craters, LUNAR);
  if (has("mars")) return land(10, RELIEFS.mesas, MARTIAN);
  if (has("city", "neon")) return land(9, RELIEFS.harbour, CITY, BAY);
  if (has("volcano")) return land(24, RELIEFS.mesas, BASALT);
  if (has("beach")) return land(4, RELIEFS.beach, BEACH, LAGOON);
  if (has("ocean"))
    return land(7, RELIEFS.islands, has("snow") ? SNOWY : FOREST, has("storm") ? { ...SEA, roughness: 1.3 } : SEA);
  if (has("desert")) return land(8, RELIEFS.dunes, SAND);
  if (has("lake")) return land(7, RELIEFS.lakeside, has("snow") ? SNOWY : has("autumn") ? AUTUMN : FOREST, water);
  if (has("forest")) return land(12, RELIEFS.hills, has("snow") ? SNOWY : has("autumn") ? AUTUMN : FOREST);
  if (has("mountains")) return land(14, RELIEFS.mountains, soil);
  if (has("hills")) return land(14, RELIEFS.hills, soil);
  if (has("meadow", "spring")) return land(6, chance < 0.5 ? RELIEFS.plain : RELIEFS.mountains, soil);
  if (has("snow", "aurora")) return land(9, RELIEFS.lakeside, SNOWY, LAKE);
  if (chance < 0.3) return land(7, RELIEFS.lakeside, has("autumn") ? AUTUMN : FOREST, LAKE);
  if (chance < 0.6) return land(14, RELIEFS.mountains, soil);
  if (chance < 0.8) return land(14, RELIEFS.hills, soil);
  return land(7, RELIEFS.islands, FOREST, SEA);
};
