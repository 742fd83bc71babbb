// A process that loads this file first (NODE_OPTIONS=--require) has a wall clock that is ahead by WALL_CLOCK_AHEAD_MS,
// or from a SIGUSR2 on, if WALL_CLOCK_SET is 1.
const { now } = Date;
const ahead = Number(process.env.WALL_CLOCK_AHEAD_MS);
let isSet = process.env.WALL_CLOCK_SET !== "1";
if (!isSet) {
  process.once("SIGUSR2", () => {
    isSet = true;
  });
}
Date.now = () => now() + (isSet ? ahead : 0);
globalThis.Date = new Proxy(Date, {
  construct: (target, values, made) => Reflect.construct(target, values.length > 0 ? values : [target.now()], made),
});
