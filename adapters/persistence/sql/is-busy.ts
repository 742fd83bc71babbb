/** Whether another process writes to the SQLite file, or the connection has a transaction already. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && /database is (locked|busy)|within a transaction/i.test(error.message);
