/** What an endpoint takes. In pixels; `pixelsMin` and `pixelsMax` are of the whole picture. */
export type KnownLimits = {
  readonly pixelsMin?: number;
  readonly pixelsMax?: number;
  readonly edgeMin?: number;
  readonly edgeMax?: number;
  /** The shortest edge that a reference image may have. */
  readonly referenceEdgeMin?: number;
};

/**
 * Limits that fal's model pages state (September 2026) and its schemas do not: an endpoint takes the request, and fails
 * at the result, which can be billed. By the beginning of the endpoint's id; the first one counts.
 */
const LIMITS: readonly (readonly [string, KnownLimits])[] = [
  ["openai/gpt-image-2", { pixelsMin: 655_360, pixelsMax: 8_294_400, edgeMax: 3840 }],
  ["fal-ai/bytedance/seedream/v5/lite/", { pixelsMin: 2560 * 1440, pixelsMax: 3072 ** 2 }],
  ["fal-ai/bytedance/seedream/v4.5/", { pixelsMin: 2560 * 1440, pixelsMax: 4096 ** 2 }],
  ["fal-ai/bytedance/seedream/v4/", { pixelsMin: 921_600, pixelsMax: 4096 ** 2 }],
  ["fal-ai/qwen-image-2/", { pixelsMin: 512 ** 2, pixelsMax: 2048 ** 2, referenceEdgeMin: 384 }],
  ["fal-ai/wan/v2.7/", { pixelsMin: 768 ** 2, pixelsMax: 1280 ** 2, referenceEdgeMin: 384 }],
  ["fal-ai/flux-2-pro", { pixelsMax: 4_000_000 }],
  ["fal-ai/flux-2-max", { pixelsMax: 4_000_000 }],
  ["fal-ai/flux-2/klein/", {}],
  ["fal-ai/flux-2", { edgeMin: 512, edgeMax: 2048 }],
  ["blackforestlabs/flux-3/", { referenceEdgeMin: 256 }],
];

export const knownLimits = (endpointId: string): KnownLimits =>
  LIMITS.find(([beginning]) => endpointId.startsWith(beginning))?.[1] ?? {};
