import { cover, multiply, type Paint, set, shine } from "./colour.js";
import { cellRandom, clamp01, inside, Noise, smoothstep } from "./noise.js";
import { BARK, GLASS, LAMP, PropColours, SNOW, WINDOW_LIGHTS } from "./prop-colours.js";
import type { PropKind, PropSet, Scene } from "./scene.js";

const RING_RATIO = 1.085;
const FRONDS = 6;

/** Half the width of each kind, relative to its height. */
const HALF_WIDTHS: Record<PropKind, number> = {
  conifer: 0.2,
  broadleaf: 0.42,
  palm: 0.42,
  cactus: 0.3,
  tower: 0.17,
  kelp: 0.08,
  coral: 0.6,
};

/** The same for a trunk, relative to the width of the whole; others stand on all of it. */
const TRUNKS: Partial<Record<PropKind, number>> = { conifer: 0.06, broadleaf: 0.07, palm: 0.05, cactus: 0.26 };

/** A direction in which a prop may stand on a ring. */
type Crossing = {
  readonly ring: number;
  /** Neighbours overlap: this selects the prop whose position this is (0), or one beside it (-1 and 1). */
  readonly side: number;
  readonly azimuth: number;
  readonly groundMetres: number;
  /** The height of the ground in another direction at the same distance. */
  groundAt(azimuth: number): number;
};

/** Trees, towers and similar objects: flat, facing the viewer, on rings around the viewer. */
export class Props {
  /** Distances in metres, nearest first. */
  readonly rings: number[] = [];
  /** Upper bound of their heights. */
  readonly heightMetres: number;
  /** Of the prop that the last `standsAt` has found: its height, and that of the ground where it stands. */
  standingMetres = 0;
  footMetres = 0;
  private readonly scene: Scene;
  private readonly props: PropSet;
  private readonly noise: Noise;
  private readonly colours: PropColours;
  /** Of that prop: where the column crosses it (-1 to 1), its random number (0 to 1), and which side is lit. */
  private across = 0;
  private halfWidthMetres = 1;
  private variation = 0;
  private litSide = 0;
  /** Of that prop: how far its foot reaches below the ground, because trunks are round. */
  sunkMetres = 0;
  private shadowMetres = 1;
  /** Of a palm: the height of each frond there (infinite beyond its end), how thick and how steep it is. */
  private readonly frondMiddle = new Float64Array(FRONDS);
  private readonly frondThick = new Float64Array(FRONDS);
  private readonly frondSteep = new Float64Array(FRONDS);

  constructor(scene: Scene, props: PropSet) {
    const far = Math.min(props.farMetres, 4 / scene.haze.perMetre);
    for (let distance = props.nearMetres; distance < far; distance *= RING_RATIO) this.rings.push(distance);
    this.heightMetres = props.heightMetres * 1.5;
    this.scene = scene;
    this.props = props;
    this.noise = new Noise(scene.seed ^ 0x7ee5);
    this.colours = new PropColours(scene.sky, props);
  }

  /** True if a prop of this ring crosses this direction. `paint` then paints it. */
  standsAt({ ring, side, azimuth, groundMetres, groundAt }: Crossing): boolean {
    const { props } = this;
    const { seed } = this.scene;
    const distance = this.rings[ring] as number;
    const isPalm = props.kind === "palm";
    if (!isPalm && !this.growsOn(groundMetres)) return false;
    const spacing = props.heightMetres * HALF_WIDTHS[props.kind] * 1.5;
    const places = Math.max(5, Math.round((2 * Math.PI * distance) / spacing));
    const turn = (azimuth / (2 * Math.PI) + 1) * places;
    const place = Math.floor(turn) + side;
    const number = ((place % places) + places) % places;
    const chance = cellRandom(number, ring, 3, seed);
    if (chance > props.density * 1.5) return false;

    const variation = cellRandom(number, ring, 1, seed);
    const size = cellRandom(number, ring, 4, seed);
    const height = props.heightMetres * (props.kind === "tower" ? 0.18 + 1.2 * size ** 3 : 0.6 + 0.7 * size);
    const wide =
      props.kind === "tower" ? props.heightMetres * (0.07 + 0.1 * variation) : height * HALF_WIDTHS[props.kind];
    const centre = place + 0.2 + 0.6 * cellRandom(number, ring, 2, seed);
    const across = ((turn - centre) / places) * 2 * Math.PI * distance;
    if (Math.abs(across) >= wide) return false;
    const centreAzimuth = (centre / places) * 2 * Math.PI;
    const clump = this.noise.at2(
      (Math.sin(centreAzimuth) * distance) / 130,
      (Math.cos(centreAzimuth) * distance) / 130,
    );
    if (chance > props.density * clamp01(0.75 + 1.5 * clump)) return false;
    // Leaves of a palm reach over water. Other props follow the ground under each of their columns.
    this.footMetres = isPalm ? groundAt(centreAzimuth) : groundMetres;
    if (isPalm && !this.growsOn(this.footMetres)) return false;

    this.across = across / wide;
    this.halfWidthMetres = wide;
    this.standingMetres = height;
    const trunk = 1.7 * (TRUNKS[props.kind] ?? 1);
    this.shadowMetres = wide * (props.kind === "conifer" ? 0.8 : Math.min(0.4, 3 * trunk));
    this.sunkMetres = 0.5 * Math.min(trunk * wide, 0.6) * Math.sqrt(clamp01(1 - (across / wide / trunk) ** 2));
    this.variation = variation;
    this.litSide = Math.sin(this.scene.light.azimuth - azimuth);
    if (isPalm) this.crossFronds(this.across);
    return true;
  }

  /** How dark the ground is at this distance from the foot, towards the viewer or away: 0 to 1. */
  shadowAt(metres: number): number {
    const aside = this.across * this.halfWidthMetres;
    return 0.55 * clamp01(1 - (aside * aside + metres * metres) / this.shadowMetres ** 2) ** 2;
  }

  private growsOn(groundMetres: number): boolean {
    return groundMetres <= this.props.groundMetresMax && groundMetres >= 0.4;
  }

  /** Paints the prop found last at this height in metres above its foot; returns its opacity there. */
  paint(paint: Paint, aboveMetres: number, pixelMetres: number): number {
    const u = this.across;
    const v = Math.max(0, aboveMetres / this.standingMetres);
    if (v > 1) return 0;
    const softU = pixelMetres / this.halfWidthMetres;
    const softV = pixelMetres / this.standingMetres;
    switch (this.props.kind) {
      case "conifer":
        return this.conifer(paint, u, v, softU, softV);
      case "broadleaf":
        return this.broadleaf(paint, u, v, softU);
      case "palm":
        return this.palm(paint, v, softU, softV);
      case "cactus":
        return this.cactus(paint, v, softU, softV);
      case "tower":
        return this.tower(paint, v, aboveMetres, pixelMetres);
      case "kelp":
        return this.kelp(paint, u, v, softU);
      case "coral":
        return this.coral(paint, u, v, softU);
    }
  }

  private conifer(paint: Paint, u: number, v: number, softU: number, softV: number): number {
    const tiers = 9 + 5 * this.variation;
    // From the lower edge of a tier, 0, to its upper one, 1. In the pixel of an edge both tiers are mixed.
    const pixel = softV * tiers;
    const above = v * tiers - Math.round(v * tiers);
    const isEdge = Math.abs(above) < pixel / 2;
    const tier = isEdge ? 0.5 - above / pixel : above - Math.floor(above);
    const soft = softU + 0.34 * (1 - v) * (isEdge ? 1 : pixel);
    const ragged = 0.22 * this.noise.at2(u * 5 + 40 * this.variation, v * 22);
    const reach = (1 - v) * (0.98 - 0.34 * tier + ragged);
    const opacity = inside(reach - Math.abs(u), soft);
    const trunk = v < 0.07 ? inside(flared(0.06, v) - Math.abs(u), softU) : 0;
    const needles = 0.5 + this.noise.at2(u * 7, v * 34 + 9 * this.variation);
    this.shade(paint, clamp01(0.35 + 0.4 * needles - 0.25 * tier), u, v);
    if (this.props.snowy) {
      // It lies on the upper side of the branches.
      const lying = 1 - tier + 0.5 * this.noise.at2(u * 3, v * 9 + 5 * this.variation);
      const snow = isEdge ? 1 - tier : smoothstep(0.45, 0.95, lying);
      cover(paint, this.colours.lit(SNOW, 0.45 + 0.35 * u * this.litSide + 0.2 * v), 0.8 * snow);
    }
    const branches = opacity * inside(v - 0.05, softV);
    if (trunk > branches) set(paint, this.colours.lit(BARK, 0.5));
    return Math.max(branches, trunk);
  }

  private broadleaf(paint: Paint, u: number, v: number, soft: number): number {
    const lumps = 0.3 * this.noise.fractal2(u * 2.4 + 30 * this.variation, v * 3.2, 4);
    const crown = 1 - Math.hypot(u, (v - 0.6) / 0.4) + lumps - 0.08;
    const leaves = this.noise.fractal2(u * 7 + 30 * this.variation, v * 9, 3);
    this.shade(paint, clamp01(0.5 + 0.9 * leaves + 0.5 * (v - 0.55)), u, v);
    const opacity = inside(crown + 0.1 * leaves, soft * 1.8);
    const trunk = v < 0.4 ? inside(flared(0.07, v) - Math.abs(u), soft) : 0;
    if (trunk > opacity) set(paint, this.colours.lit(BARK, 0.5));
    return Math.max(opacity, trunk);
  }

  private palm(paint: Paint, v: number, softU: number, softV: number): number {
    const u = this.across;
    const lean = this.lean();
    const trunk = v < 0.8 ? inside(flared(0.05, v) - 0.02 * v - Math.abs(u - lean * v * v), softU) : 0;
    let fronds = 0;
    for (let frond = 0; frond < FRONDS; frond++) {
      const thick = this.frondThick[frond] as number;
      const below = (this.frondMiddle[frond] as number) - v;
      const soft = softV + softU * (this.frondSteep[frond] as number);
      fronds = Math.max(fronds, inside(below > 0 ? thick * 1.5 - below : thick * 0.35 + below, soft));
    }
    if (fronds > trunk) this.shade(paint, clamp01(0.55 + 0.5 * this.noise.at2(u * 18, v * 18)), u, v);
    else set(paint, this.colours.lit(BARK, 0.85 + 0.25 * this.noise.at2(3, v * 60)));
    return Math.max(fronds, trunk);
  }

  /** Distance of the top of a palm to the side of its foot. */
  private lean(): number {
    return 0.5 * (this.variation - 0.5);
  }

  /** Where the column crosses the fronds of a palm, and how thick they are there. */
  private crossFronds(u: number): void {
    const top = this.lean() * 0.64;
    const out = Math.abs(u - top);
    for (let frond = 0; frond < FRONDS; frond++) {
      const rise = 0.62 - 0.24 * frond + 0.1 * Math.sin(40 * this.variation + frond * 2.3 + (u > top ? 1 : 0));
      const reach = (0.95 - 0.07 * frond) * (1 - Math.abs(top)); // within the width of the prop
      const feathered = 0.6 + 0.8 * Math.abs(this.noise.at2(u * 26, frond * 5 + 30 * this.variation));
      this.frondThick[frond] = 0.055 * feathered * Math.sqrt(Math.max(0, 1 - out / reach));
      this.frondSteep[frond] = 0.8 + Math.abs(rise - 1.56 * out); // feathers have steep edges everywhere
      this.frondMiddle[frond] = out > reach ? Number.POSITIVE_INFINITY : 0.79 + rise * out - 0.78 * out * out;
    }
  }

  private cactus(paint: Paint, v: number, softU: number, softV: number): number {
    const u = this.across;
    const side = Math.abs(u);
    const low = u > 0 ? 0.32 + 0.2 * this.variation : 0.5 - 0.2 * this.variation;
    const round = (half: number, middle: number, top: number) =>
      inside(Math.min(half * Math.sqrt(clamp01((top - v) / 0.07)) - Math.abs(side - middle), 1), softU);
    const trunk = round(0.26, 0, 1);
    const arm = v > low ? round(0.15, 0.78, low + 0.36) : 0;
    const joint = side < 0.8 ? inside(0.05 - Math.abs(v - low - 0.03), softV) : 0;
    const ribs = 0.5 + 0.5 * Math.cos(u * 44);
    this.shade(paint, clamp01(0.25 + 0.6 * ribs), u, v + 0.5);
    return Math.max(trunk, arm, joint);
  }

  private kelp(paint: Paint, u: number, v: number, soft: number): number {
    const sway = 0.55 * Math.sin(v * 6 + 30 * this.variation) * (0.3 + v);
    const leaf = 0.16 + 0.2 * Math.abs(Math.sin(v * 40 + 9 * this.variation));
    this.shade(paint, clamp01(0.4 + 0.6 * Math.sin(v * 40)), u, v);
    return inside(leaf * (1 - 0.6 * v) - Math.abs(u - sway), soft);
  }

  /** A fan of branches, in one of a few colours. */
  private coral(paint: Paint, u: number, v: number, soft: number): number {
    const spread = u / (0.25 + 0.75 * v);
    const branch = this.noise.fractal2(spread * 4 + 30 * this.variation, v * 2.2, 3);
    const outline = 1 - Math.hypot(u, v * 0.95) + 0.35 * branch;
    const gaps = smoothstep(-0.32, -0.12, branch + 0.5 * (0.5 - v));
    const { colours } = this.props;
    set(paint, colours[Math.floor(this.variation * colours.length)] ?? colours[0]);
    this.colours.light(paint, Math.max(0.15, 0.35 + 0.7 * v + 0.5 * branch));
    multiply(paint, LAMP);
    return inside(outline, soft * 1.4 + 0.03) * gaps;
  }

  private tower(paint: Paint, v: number, aboveMetres: number, pixelMetres: number): number {
    const u = this.across;
    const step = this.variation < 0.4 ? (Math.abs(u) > 0.55 ? 0.72 + this.variation * 0.4 : 0.97) : 0.97;
    const mast = this.variation > 0.75 ? inside(0.03 - Math.abs(u), pixelMetres / this.halfWidthMetres) : 0;
    if (v > step) {
      set(paint, this.colours.lit(this.props.colours[0], 0.4));
      return mast;
    }
    const metres = (u + 1) * this.halfWidthMetres;
    const face = u < 0.2 + 0.5 * (this.variation - 0.5) ? 1 : 0.62;
    const brightness = face * (0.85 + 0.3 * this.litSide * (face < 1 ? 1 : -1));
    this.colours.blend(paint, this.variation);
    this.colours.light(paint, Math.max(0.2, 0.6 * brightness));
    const storey = Math.floor(aboveMetres / 4);
    const bay = Math.floor(metres / 3.4);
    const glass =
      windowShare(aboveMetres / 4, 0.2, 0.85, pixelMetres / 4) *
      windowShare(metres / 3.4, 0.15, 0.85, pixelMetres / 3.4);
    cover(paint, this.colours.lit(GLASS, 0.9), 0.55 * glass);
    // Far away a pixel contains many windows: they are averaged.
    const single = smoothstep(4.5, 2, pixelMetres);
    const seed = Math.floor(this.variation * 1e6);
    const isLit = cellRandom(storey, bay, seed, 11) < this.props.lit ? 1 : 0;
    const glow = this.props.lit + (isLit - this.props.lit) * single;
    const tint =
      WINDOW_LIGHTS[Math.floor(cellRandom(storey, bay, seed, 12) * WINDOW_LIGHTS.length)] ?? WINDOW_LIGHTS[0];
    shine(paint, tint, glow * glass * (0.25 + 0.6 * cellRandom(bay, storey, seed, 13)));
    return 1;
  }

  /** The colour of leaves, from dark to bright: lit from above and from the side of the sun. */
  private shade(paint: Paint, brightness: number, u: number, v: number): void {
    this.colours.leaves(paint, brightness, this.variation, 0.42 + 0.36 * u * this.litSide + 0.25 * v);
  }
}

/** Half the width of a trunk that is wider at its foot. */
const flared = (half: number, v: number): number => half * (1 + 0.5 * Math.exp(-v * 28));

/** The share of glass in a wall at `position` (in units of windows); each window spans `from` to `to`. */
const windowShare = (position: number, from: number, to: number, pixel: number): number => {
  if (pixel > 0.8) return to - from;
  const within = position - Math.floor(position);
  return inside(Math.min(within - from, to - within), pixel);
};
