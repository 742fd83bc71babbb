/** An environment variable, or a file that it names, is wrong. */
export class ConfigurationError extends Error {}

/** `serve` cannot start beside another process. */
export class RefusedError extends Error {}
