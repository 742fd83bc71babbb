// A process that loads this file first (NODE_OPTIONS=--require) has a wall clock that is ahead by WALL_CLOCK_AHEAD_MS.
const { now } = Date;
const ahead = Number(process.env.WALL_CLOCK_AHEAD_MS);
Date.now = () => now() + ahead;
globalThis.Date = new Proxy(Date, {
  construct: (target, values, made) => Reflect.construct(target, values.length > 0 ? values : [target.now()], made),
});
