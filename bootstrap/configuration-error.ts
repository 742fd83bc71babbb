import type { CommandError } from "./command-error.js";

/** Why the service cannot start, or a command cannot run. `message`: one line with what to do. */
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
