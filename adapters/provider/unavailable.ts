import type { ProviderUnavailable } from "../../application/ports/generation-provider.js";

export const unavailable = (reason: string): ProviderUnavailable => ({ kind: "provider_unavailable", reason });
