/** Defaults of the configuration and of the functions that open a provider. URLs have no trailing slash. */
export const REMOTE_DEFAULTS = {
  submitTimeoutMilliseconds: 30_000,
  generationDeadlineMilliseconds: 600_000,
  skybox: { baseUrl: "https://backend.blockadelabs.com/api/v1", styleId: 67 },
  replicate: { baseUrl: "https://api.replicate.com/v1", model: "bytedance/seedream-4" },
  worldlabs: { baseUrl: "https://api.worldlabs.ai", model: "marble-1.0-draft" },
  comfy: { baseUrl: "https://cloud.comfy.org", workflow: "qwen-image-edit" },
  fal: {
    baseUrl: "https://queue.fal.run",
    platformUrl: "https://api.fal.ai/v1",
    /** fal has moved its keys; the old host is tried when the new one does not answer. */
    jwksUrls: ["https://rest.fal.ai", "https://rest.alpha.fal.ai"].map((host) => `${host}/.well-known/jwks.json`),
  },
} as const;
