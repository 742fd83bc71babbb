import type { OpenProvider } from "../adapters/provider/remote/remote-options.js";
import type { ProviderWebhooks } from "../application/ports/provider-webhooks.js";

/** The providers that send webhooks to this service, by name. */
export const webhooksOf = (
  providers: readonly Pick<OpenProvider, "name" | "webhooks">[],
): ReadonlyMap<string, ProviderWebhooks> =>
  new Map(
    providers.flatMap(({ name, webhooks }): [string, ProviderWebhooks][] =>
      webhooks === undefined ? [] : [[name, webhooks]],
    ),
  );
