/** The exit status of each kind of error. */
export const EXIT_STATUS = {
  failed: 1,
  usage: 2,
  not_found: 3,
  unreachable: 4,
  refused: 5,
  configuration: 6,
  /** Exit status that shells report. */
  interrupted: 130,
} as const;

/** Meaning of each kind of error, for people. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT_STATUS, string>> = {
  failed:
    "anything else; also `ledger verify`, `storage verify` and `backup` with findings, which they print on standard output",
  usage: "an unknown command or option, or a value that breaks a rule",
  not_found: "there is no such account, task, order, key, endpoint or delivery",
  unreachable: "the database, or the service of a client command, cannot be reached: try again later",
  refused: "a conflict: the account already exists, the port is in use, or another `serve` uses the SQLite folder",
  configuration:
    "an environment variable is wrong, or there is no database of this version: `DATA_DIR` is mistyped, `panorama migrate` has not run, or a later version has migrated it",
  interrupted: "ended by Ctrl-C",
};

/** Failure of a command. `message` is one line. `NotFound` of a use case is such an error. */
export type CommandError = { readonly kind: keyof typeof EXIT_STATUS; readonly message: string };

const errorOf =
  (kind: CommandError["kind"]) =>
  (message: string): CommandError => ({ kind, message });

export const failed = errorOf("failed");
export const misused = errorOf("usage");
export const refused = errorOf("refused");
export const misconfigured = errorOf("configuration");

/** Reason why the service cannot start, or a command cannot run. `message`: one line with a remedy. */
export class StartError extends Error {
  readonly kind: CommandError["kind"];

  constructor(kind: CommandError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** An environment variable, or a file that it names, is wrong. */
export class ConfigurationError extends StartError {
  constructor(message: string, options?: ErrorOptions) {
    super("configuration", message, options);
  }
}
