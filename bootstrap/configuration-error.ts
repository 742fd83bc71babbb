/** An environment variable, or a file that it names, is wrong. */
export class ConfigurationError extends Error {}
