/** Replicate's webhooks repeat the input of the generation, which may contain a small image. */
export const WEBHOOK_BYTES_MAX = 512 * 1024;
