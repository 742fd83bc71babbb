/** What the configuration and the functions that open a provider use where nothing is set. URLs have no trailing slash. */
export const REMOTE_DEFAULTS = {
  submitTimeoutMilliseconds: 30_000,
  generationDeadlineMilliseconds: 600_000,
  skybox: { baseUrl: "https://backend.blockadelabs.com/api/v1", styleId: 67 },
  replicate: { baseUrl: "https://api.replicate.com/v1", model: "igorriti/flux-360" },
  fal: {
    baseUrl: "https://queue.fal.run",
    platformUrl: "https://api.fal.ai/v1",
    /** fal has moved its keys; the old host is tried when the new one does not answer. */
    jwksUrls: ["https://rest.fal.ai", "https://rest.alpha.fal.ai"].map((host) => `${host}/.well-known/jwks.json`),
  },
} as const;
