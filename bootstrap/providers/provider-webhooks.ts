import type { OpenProvider } from "../../adapters/provider/remote/remote-options.js";
import type { ProviderWebhooks } from "../../application/ports/generation-provider.js";

/** The providers that send webhooks to this service, by account: its models share their webhooks. */
export const webhooksOf = (
  providers: readonly Pick<OpenProvider, "name" | "account" | "webhooks">[],
): ReadonlyMap<string, ProviderWebhooks> =>
  new Map(
    providers.flatMap(({ name, account = name, webhooks }): [string, ProviderWebhooks][] =>
      webhooks === undefined ? [] : [[account, webhooks]],
    ),
  );
