/** SQLSTATE of a server that stops, starts, or has ended the connection. */
const SHUTDOWN = /^(57P0[1-5]|08\d\d\d)$/;
const NETWORK = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND"],
  ...["EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN"],
]);
/** Errors of the driver, and of connections that are given up, have no code. */
const WITHOUT_CODE = /^(Connection terminated|PostgreSQL did not answer for)/;

/** Whether an error of a statement or of a connection says that PostgreSQL cannot be reached, not that it refuses. */
export const isAway = (error: unknown): error is Error => {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? SHUTDOWN.test(code) || NETWORK.has(code) : WITHOUT_CODE.test(error.message);
};
