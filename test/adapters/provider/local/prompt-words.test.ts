import { expect, it } from "vitest";
import { promptWords } from "../../../../adapters/provider/local/painter/prompt-words.js";

it.each<[string, string, string, string]>([
  ["inside a gothic cathedral", "", "", "gothic cathedral"],
  ["a lighthouse on a cliff", "cliff", "", "lighthouse"],
  ["a cosy living room", "", "", "cosy living room"],
  ["rainy street in Paris", "rainy street", "", "Paris"],
  ["space station orbiting earth", "space orbiting", "", "station earth"],
  ["a lake in the mountains at sunset", "lake mountains sunset", "", ""],
  ["a snow-covered forest under the northern lights", "snow-covered forest northern lights", "", ""],
  ["snow-free hills", "hills", "", "snow-free"],
  ["stormy night over the sea", "stormy sea", "night", ""],
  ["moonlit night", "moonlit night", "", ""],
  ["a lake in the desert", "desert", "lake", ""],
  ["snow in the city", "city", "snow", ""],
  ["the surface of the moon", "surface moon", "", ""],
  ["Mars at noon, mars", "Mars", "noon", ""],
  ["sea without islands", "sea islands", "", "without"],
  ["two moons over dunes", "moons dunes", "", "two"],
  ["a lake test:slow", "lake", "", ""],
  ["東京の夜", "", "", "東京の夜"],
  ["???", "", "", ""],
])("the painter sorts the words of a prompt: %s", (prompt, drawn, leftOut, unknown) => {
  const { drawn: d, leftOut: l, unknown: u } = promptWords(prompt);
  expect([d.join(" "), l.join(" "), u.join(" ")]).toEqual([drawn, leftOut, unknown]);
});

it.each(
  (
    "golden sunset sunrise dusk night day storm overcast clear fog snow autumn spring lavender aurora moon moons " +
    "mountains hills meadow forest cactus desert ocean lake beach city neon space mars crater alien planet volcano " +
    "underwater coral"
  ).split(" "),
)("the painter draws a word that it knows and that stands alone: %s", (word) => {
  expect(promptWords(word)).toEqual({ drawn: [word], leftOut: [], unknown: [] });
});
