import { type Paint, type Ray, shine } from "./colour.js";
import { cellRandom, mix } from "./noise.js";

/** The share of cells with a star grows by at most this factor. */
const CROWDING_MAX = 1.45;

type Stars = {
  readonly seed: number;
  /** Per unit of length. */
  readonly cells: number;
  readonly brightness: number;
  /** The share of cells that have a star. */
  readonly share: number;
  /** Of a star, in radians. */
  readonly radius: number;
  readonly dimming: number;
};

/** Stars of similar brightness, at most one in each cell of a grid in space. */
export class StarLayer {
  private readonly seed: number;
  private readonly cells: number;
  private readonly brightness: number;
  private readonly share: number;
  private readonly radius: number;
  private readonly dimming: number;
  /** The cell of the last direction: neighbouring pixels are often in the same one. */
  private cellX = Number.NaN;
  private cellY = Number.NaN;
  private cellZ = Number.NaN;
  /** Its star: a pseudo-random number (above 1 if there can be none), and its direction. */
  private chance = 2;
  private readonly star: Paint = [0, 0, 0];
  private readonly light: Paint = [0, 0, 0];

  constructor({ seed, cells, brightness, share, radius, dimming }: Stars) {
    this.seed = seed;
    this.cells = cells;
    this.brightness = brightness;
    this.share = share;
    this.radius = radius;
    this.dimming = dimming;
  }

  /** Adds the light of the stars; `crowding`: how many more there are here than elsewhere, at most 1.45. */
  paint(paint: Paint, ray: Ray, crowding: number): void {
    this.enter(Math.floor(ray.x * this.cells), Math.floor(ray.y * this.cells), Math.floor(ray.z * this.cells));
    const share = this.share * crowding;
    if (this.chance > share) return;
    const { star } = this;
    const dx = ray.x - star[0];
    const dy = ray.y - star[1];
    const dz = ray.z - star[2];
    const distance = Math.sqrt(dx * dx + dy * dy + dz * dz) / this.radius;
    if (distance > 2.2) return;
    const size = this.chance / share;
    const light = this.brightness * (0.25 + 1.6 * size ** 6) * Math.exp(-distance * distance * 1.4) * this.dimming;
    const warmth = cellRandom(this.cellX, this.cellY, this.cellZ, this.seed + 404);
    const colour = this.light;
    colour[0] = mix(0.75, 1.1, warmth);
    colour[1] = 0.92;
    colour[2] = mix(1.2, 0.75, warmth);
    shine(paint, colour, light);
  }

  private enter(cellX: number, cellY: number, cellZ: number): void {
    if (cellX === this.cellX && cellY === this.cellY && cellZ === this.cellZ) return;
    this.cellX = cellX;
    this.cellY = cellY;
    this.cellZ = cellZ;
    this.chance = cellRandom(cellX, cellY, cellZ, this.seed);
    if (this.chance > this.share * CROWDING_MAX || !this.placeStar(cellX, cellY, cellZ)) this.chance = 2;
  }

  /** Sets the direction of the star in this cell; returns whether the star can be shown. */
  private placeStar(cellX: number, cellY: number, cellZ: number): boolean {
    const { cells, seed, star } = this;
    // Inside the cell and far enough from its walls that no star is cut off.
    const margin = Math.min(0.45, this.radius * 2.2 * cells);
    const width = 1 - 2 * margin;
    const x = (cellX + margin + width * cellRandom(cellX, cellY, cellZ, seed + 101)) / cells;
    const y = (cellY + margin + width * cellRandom(cellX, cellY, cellZ, seed + 202)) / cells;
    const z = (cellZ + margin + width * cellRandom(cellX, cellY, cellZ, seed + 303)) / cells;
    const length = Math.sqrt(x * x + y * y + z * z);
    // A star off the sphere would be projected into another cell and cut off there.
    if (Math.abs(length - 1) * cells > 0.3) return false;
    star[0] = x / length;
    star[1] = y / length;
    star[2] = z / length;
    return true;
  }
}
