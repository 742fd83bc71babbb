/** Resolves when all pending microtasks have run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
