import type { ProviderPrice, ProviderPrices } from "../../domain/tasks/generation-cost.js";

const perPanorama = (dollars1k: number, dollars2k = dollars1k, dollars4k = dollars1k): ProviderPrice => ({
  currency: "USD",
  perPanorama: { "1k": dollars1k * 1e6, "2k": dollars2k * 1e6, "4k": dollars4k * 1e6 },
});

/**
 * From fal's model pages, September 2026. Models that are billed by tokens, quality or megapixels have no price here:
 * the operator sets what they pay (`providerPrices` of the settings).
 */
export const KNOWN_PRICES: ProviderPrices = {
  local: perPanorama(0),
  "fal:seedream-4.5": perPanorama(0.04),
  "fal:flux-3": perPanorama(0.048, 0.192, 0.768),
  "fal:hunyuan-world": perPanorama(0.15),
};
