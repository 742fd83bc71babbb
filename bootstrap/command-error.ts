/** The exit status of each kind of error, as CONFIGURATION.md lists them. */
export const EXIT_STATUS = {
  /** Anything that has no kind of its own. */
  failed: 1,
  /** An unknown command or option, or a value that breaks a rule. */
  usage: 2,
  /** There is no such account, task, order, key, endpoint or delivery. */
  not_found: 3,
  /** The database or the service cannot be reached. */
  unreachable: 4,
  /** The state of the data does not allow it, or another process: it has the port, or the SQLite folder. */
  refused: 5,
  /** An environment variable is wrong, or DATA_DIR or DATABASE_URL names no database of this version. */
  configuration: 6,
  /** By Ctrl-C; what shells report. */
  interrupted: 130,
} as const;

/** Why a command did not do what it was told. `message` is one line. `NotFound` of a use case is such an error. */
export type CommandError = { readonly kind: keyof typeof EXIT_STATUS; readonly message: string };

const errorOf =
  (kind: CommandError["kind"]) =>
  (message: string): CommandError => ({ kind, message });

export const failed = errorOf("failed");
export const misused = errorOf("usage");
export const notFound = errorOf("not_found");
export const refused = errorOf("refused");
export const misconfigured = errorOf("configuration");
