import { paintColumns } from "../../adapters/provider/local/painter/paint.js";
import { sceneOf } from "../../adapters/provider/local/painter/scene-of.js";
import { RESOLUTIONS } from "../../domain/images/resolution.js";

/*
 * Measures the processor time that the local provider needs to paint one 4k picture of each kind of scene, on one
 * thread: `npm run bench render`. `npm run bench render -- "a prompt"` measures that prompt only.
 */

const PROMPTS = [
  "a lake in the mountains at sunset",
  "a snowy forest at night under the aurora",
  "nebula in deep space",
  "city skyline at night",
  "thunderstorm over the ocean",
  "a tropical beach",
  "desert dunes at noon",
  "mars",
];

const size = RESOLUTIONS["4k"];
const { widthPixels, heightPixels } = size;
/** As wide as the strips of the paint pool. */
const STRIP_COLUMNS = 34;

const secondsToPaint = (prompt: string): number => {
  const pixels = new Uint8Array(new SharedArrayBuffer(widthPixels * heightPixels * 3));
  const scene = sceneOf(prompt, []);
  const start = process.cpuUsage();
  for (let from = 0; from < widthPixels; from += STRIP_COLUMNS) {
    paintColumns({ scene, references: [], size, from, to: Math.min(from + STRIP_COLUMNS, widthPixels), pixels });
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
};

const prompts = process.argv.slice(2);
console.log("processor seconds for one 4k picture\n");
for (const prompt of prompts.length > 0 ? prompts : PROMPTS) {
  console.log(`${secondsToPaint(prompt).toFixed(2).padStart(6)}  ${prompt}`);
}
