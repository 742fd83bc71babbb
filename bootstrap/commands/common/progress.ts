const PAUSE_MILLISECONDS = 250;

/** Shows on a terminal how far a long command is, on standard error: `count` so far, of `what`. */
export const progressOf = (what: string): ((count: number) => void) => {
  if (!process.stderr.isTTY) return () => {};
  let shownAt = performance.now();
  return (count) => {
    const now = performance.now();
    if (now - shownAt < PAUSE_MILLISECONDS) return;
    shownAt = now;
    process.stderr.write(`\r${count} ${what}`);
  };
};

/** Before the result is printed: the next line begins at the left again. */
export const endProgress = (): void => {
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[2K");
};
