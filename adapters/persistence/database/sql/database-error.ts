import { StoreUnreachable } from "../../../../application/ports/stores/store-errors.js";

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
export const cannotConnect = (thrown: unknown): DatabaseError => {
  const error = thrown instanceof StoreUnreachable ? thrown.cause : thrown;
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
  if (/SSL|certificate/i.test(reason)) {
    const advice = "Correct sslmode and sslrootcert in DATABASE_URL.";
    return made("configuration", `PostgreSQL and this service find no common TLS: ${reason}. ${advice}`);
  }
  const advice = "Check that it runs and accepts connections, and the host and port in DATABASE_URL.";
  return made("unreachable", `PostgreSQL cannot be reached: ${reason}. ${advice}`);
};

/** The error for a missing SQLite file. Only `serve` and `migrate` make one. */
export function missingFile(file: string): DatabaseError {
  const advice = "Check DATA_DIR. panorama serve or panorama migrate makes a new database.";
  return new DatabaseError("configuration", `There is no database ${file}. ${advice}`);
}

/** The SQLite file is there, or can be made, but cannot be opened or read. */
export function cannotOpenFile(file: string, error: unknown): DatabaseError {
  const reason = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
  const [kind, advice] = /database is locked/i.test(reason)
    ? (["unreachable", "Another process has locked it. End that process, or try again later."] as const)
    : (["configuration", "Restore a backup, or move the file away: a new one is made then."] as const);
  return new DatabaseError(kind, `Cannot open the database ${file}: ${reason}. ${advice}`, { cause: error });
}

/** True if another process writes to the SQLite file, or the connection already has a transaction. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && /database is (locked|busy)|within a transaction/i.test(error.message);
