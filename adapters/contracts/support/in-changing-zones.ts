/** Offsets of both signs, with half hours, and none is UTC. */
const ZONES = ["Asia/Kolkata", "America/St_Johns", "Pacific/Auckland"];

const OWN_ZONE = process.env.TZ;

const setZone = (zone: string | undefined): void => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
};

/**
 * The same adapter, which calls each of its methods in another time zone than the one before, as processes on several
 * machines do: an adapter that keeps times without their zone returns others than it was given. `close` sets the zone
 * of the process again. In a worker thread the zone cannot be changed, so there it stays the same.
 */
export const inChangingZones = <Adapter extends object>(adapter: Adapter): Adapter => {
  let calls = 0;
  const changing = <Part extends object>(part: Part): Part =>
    // The proxy is not one of `part`, whose members may be constant.
    new Proxy({} as Part, {
      get: (_, name) => {
        const member: unknown = Reflect.get(part, name);
        if (typeof member === "object" && member !== null) return changing(member);
        if (typeof member !== "function") return member;
        return (...args: unknown[]): unknown => {
          const isLast = part === (adapter as object) && name === "close";
          setZone(isLast ? OWN_ZONE : ZONES[calls++ % ZONES.length]);
          return Reflect.apply(member, part, args);
        };
      },
    });
  return changing(adapter);
};
