/** Why the database cannot be opened. `configuration`: it is not there, or not of this version. */
export class DatabaseError extends Error {
  readonly kind: "unreachable" | "configuration";

  constructor(kind: DatabaseError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** SQLSTATE of errors that a setting causes: a login that is refused, and a database that does not exist. */
const LOGIN_REFUSED = /^28/;
const NO_DATABASE = "3D000";

/** Why the first statement on PostgreSQL has failed. */
export const cannotConnect = (error: unknown): DatabaseError => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const sqlState = String(code);
  // If a name has several addresses, the error of all of them together has no message.
  const reason = String(message || code || error).replace(/\.$/, "");
  const made = (kind: DatabaseError["kind"], text: string) => new DatabaseError(kind, text, { cause: error });
  if (LOGIN_REFUSED.test(sqlState)) {
    return made("configuration", `PostgreSQL refuses the login: ${reason}. Correct user and password in DATABASE_URL.`);
  }
  if (sqlState === NO_DATABASE) {
    return made("configuration", `PostgreSQL refuses the login: ${reason}. Create it, or correct DATABASE_URL.`);
  }
  const advice = "Check that it runs and accepts connections, and the host and port in DATABASE_URL.";
  return made("unreachable", `PostgreSQL cannot be reached: ${reason}. ${advice}`);
};
