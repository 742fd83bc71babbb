import type { Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import type {
  CircuitState,
  GenerationProvider,
  ProviderWebhooks,
} from "../../../application/ports/generation-provider.js";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";

/** The options of every remote provider. Each provider adds its own; most of them are optional. */
export type RemoteOptions = {
  /**
   * Where the application hosts reference images. They are read there and sent as bytes, because the provider may not
   * reach their URLs. Without it, the provider gets every reference image by its URL.
   */
  readonly storage?: Pick<ObjectStorage, "nameOf" | "read"> | undefined;
  /** Default: the clock of the operating system. */
  readonly clock?: Clock | undefined;
  /** Receives what the operator should know. Must not throw. */
  readonly onEvent?: ((event: ProviderEvent) => void) | undefined;
  /** Receives every call to the provider's interface when it has ended. Must not throw. */
  readonly onCall?: ((call: ProviderCall) => void) | undefined;
  /** Shortest time between two polls of one generation. By default 2400; one that takes long is polled less often. */
  readonly pollMilliseconds?: number | undefined;
  /** Calls of this process. By default what the provider allows. */
  readonly callsPerSecond?: number | undefined;
  /** Generations that run at the same time. By default what the provider allows a new account. */
  readonly concurrencyMax?: number | undefined;
  /** Time for a whole creation, with the wait for the rate limiter and for reference images. By default 30 000. */
  readonly submitTimeoutMilliseconds?: number | undefined;
  /** The application gives up a generation after this time, and asks the provider to cancel it. By default 600 000. */
  readonly generationDeadlineMilliseconds?: number | undefined;
  /**
   * The prompt for models that were not trained on panoramas, with `{prompt}` and `{references}`. By default
   * `PROMPT_TEMPLATE` (leading-prompt.ts).
   */
  readonly promptTemplate?: string | undefined;
  /**
   * Where the provider reaches the application: an https origin without a trailing slash, such as
   * `https://panoramas.example`. Webhooks are sent to `/hooks/{provider}` there. Without it, or with another scheme,
   * generations are only polled.
   */
  readonly publicUrl?: string | undefined;
  /**
   * The user agent of its calls and of its fetches of images, such as `my-app/1.0 (+https://my-app.example)`. Default:
   * `panorama-service`.
   */
  readonly userAgent?: string | undefined;
};

/** `provider` is the name of the provider, or of one of its servers. `message` is one sentence. */
export type ProviderEvent =
  /** An answer of the provider was not as documented, or its settings could not be checked. */
  | { readonly kind: "surprise"; readonly provider: string; readonly message: string }
  /** A server has not taken a creation, and another one is asked. */
  | { readonly kind: "fallback"; readonly provider: string; readonly message: string }
  /** The state of the circuit breaker; also once when the provider is opened. */
  | { readonly kind: "circuit"; readonly provider: string; readonly state: CircuitState };

/**
 * A call to a provider's interface. `outcome` is the class of the answer's status, such as `2xx`, or why there is no
 * answer: `not_sent` (no connection, or the circuit breaker is open), `too_late` (its time was over before it was
 * sent), `no_answer`.
 */
export type ProviderCall = {
  readonly provider: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly outcome: string;
  readonly seconds: number;
};

/**
 * Failure of a check of a provider's settings. `misconfigured`: nothing works until a setting is changed. `unchecked`:
 * the answer says nothing about the settings, as in an outage. `reason` is one line for the operator. It names a
 * setting by its variable of the service (CONFIGURATION.md), such as `REPLICATE_API_KEY` for `apiKey`.
 */
export type CheckFailure = { readonly kind: "misconfigured" | "unchecked"; readonly reason: string };

/** A provider of another machine, with its connections. */
export interface OpenProvider extends GenerationProvider {
  /** Verifies API key and settings with the provider. Succeeds if no call of the provider can verify them. */
  check(): Promise<Result<void, CheckFailure>>;
  /** Verifies the webhooks that the provider sends to `publicUrl`; `undefined` if it sends none. */
  readonly webhooks: ProviderWebhooks | undefined;
  /** Closes its connections; calls in flight fail. */
  close(): Promise<void>;
}

/** True if Comfy itself is at the URL. A proxy of the operator's own asks for a key only if it was given one. */
export const needsComfyKey = (baseUrl: string): boolean => {
  const { hostname } = new URL(baseUrl);
  return hostname === "cloud.comfy.org" || hostname.endsWith(".run.comfy.app");
};

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
