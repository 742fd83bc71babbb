import { quantile } from "../statistics.js";

/** Two installations alike on one machine: a slow or busy one slows both. Only one has a hostile client. */
export const SIDES = ["attacked", "control"] as const;
export type Side = (typeof SIDES)[number];

export type Sample = { readonly milliseconds: number; readonly isRefused: boolean };

/** One resource: what the hostile client does to it, and the same request of another customer on each side. */
export type Contest = {
  readonly name: string;
  readonly sample: (side: Side) => Promise<Sample>;
  /** Resolves when the attack is at its limits, `stop` when nothing of it is left. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** A pair is a sample of each side. */
  readonly pairs: number;
};

/** Other work on the machine comes in waves, and a service that works gets less of a processor than one that rests. */
const ROUNDS_MAX = 30;
const RATIO_MAX = 2;
/** Below this difference of the medians, in milliseconds, a slowdown cannot be told from noise. */
const NOISE = 1;
const REFUSED_SHARE_MAX = 0.05;

/**
 * Measures both sides in turns during the attack, at most 30 times: until the attacked one is not slower. Prints the
 * figures of the last time. Returns what is broken.
 */
export const compare = async ({ name, sample, start, stop, pairs }: Contest): Promise<readonly string[]> => {
  for (const side of SIDES) await sample(side); // connects
  await start();
  try {
    for (let round = 1; ; round += 1) {
      const taken = { attacked: [] as Sample[], control: [] as Sample[] };
      for (let pair = 0; pair < pairs; pair += 1) {
        for (const side of pair % 2 === 0 ? SIDES : SIDES.toReversed()) taken[side].push(await sample(side));
      }
      const [attacked, control] = [figuresOf(taken.attacked), figuresOf(taken.control)];
      const isFair =
        attacked.median <= Math.max(RATIO_MAX * control.median, control.median + NOISE) &&
        attacked.refused <= control.refused + REFUSED_SHARE_MAX;
      if (!isFair && round < ROUNDS_MAX) continue;
      const line =
        `${name}: ${attacked.median.toFixed(1)} ms with a hostile client, ${control.median.toFixed(1)} ms without, ` +
        `${(attacked.median / control.median).toFixed(2)} times, ${Math.round(100 * attacked.refused)} % refused, round ${round}`;
      console.log(line);
      return isFair ? [] : [line];
    }
  } finally {
    await stop();
  }
};

const figuresOf = (samples: readonly Sample[]) => ({
  median: quantile(
    samples.map(({ milliseconds }) => milliseconds),
    0.5,
  ),
  refused: samples.filter(({ isRefused }) => isRefused).length / samples.length,
});
