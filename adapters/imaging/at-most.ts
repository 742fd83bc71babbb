/** Runs what it is given, at most `limit` at a time; the others wait in line. */
export const atMost = (limit: number) => {
  const waiting: (() => void)[] = [];
  let free = limit;

  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free === 0) await new Promise<void>((next) => waiting.push(next));
    else free -= 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next(); // hands its place on
    }
  };
};
