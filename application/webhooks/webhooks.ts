import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import {
  admitEndpointAt,
  type Endpoint,
  type EndpointId,
  parseEndpointUrl,
  SECRET_OVERLAP_MILLISECONDS,
  secretsAt,
  type TooManyEndpoints,
} from "../../domain/webhooks/webhook-endpoint.js";
import type { ApplicationSettings } from "../application-settings.js";
import { type NotFound, notFound } from "../errors.js";
import { pageOf } from "../page-of.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { AccessRefused, AdmittedBy } from "../ports/stores/access.js";
import type { AccountStore } from "../ports/stores/account-stores.js";
import type { DeliveryId, EndpointOff, ListedDelivery } from "../ports/stores/webhook-stores.js";
import type { DeliveryPorts } from "./deliver-events.js";

/** `next`: pass it as `before` to read the next page; `undefined` on the last page. */
type DeliveryPage = { readonly deliveries: readonly ListedDelivery[]; readonly next: DeliveryId | undefined };

/** Webhooks of an account: its endpoints, and the deliveries of its events. */
export function webhooks(
  ports: Pick<ApplicationPorts, "endpoints" | "deliveries" | "clock" | "ids"> & {
    readonly accounts: Pick<AccountStore, "exists">;
  },
  { webhookPrivateOrigins = [] }: Pick<ApplicationSettings, "webhookPrivateOrigins"> = {},
) {
  const { accounts, endpoints, deliveries, clock, ids } = ports;
  return {
    /** Adds an endpoint to the account. It gets every event from now on. */
    async createEndpoint(
      account: AccountId,
      url: string,
      admittedBy?: AdmittedBy,
    ): Promise<Result<Endpoint, InvalidRequest | TooManyEndpoints | NotFound | AccessRefused>> {
      const parsed = parseEndpointUrl(url, webhookPrivateOrigins);
      if (parsed.isErr()) return err(parsed.error);
      if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
      const endpoint = newEndpoint(ports, account, parsed.value);
      const access = admittedBy && { ...admittedBy, now: endpoint.createdAt };
      const inserted = await endpoints.insert(endpoint, (urls) => admitEndpointAt(parsed.value, urls), access);
      return inserted.isErr() ? err(inserted.error) : ok(endpoint);
    },

    /** The account's endpoints, oldest first, with the default endpoint, which has no URL. */
    async listEndpoints(account: AccountId): Promise<Result<readonly Endpoint[], NotFound>> {
      if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
      await ensureDefaultEndpoint(ports, account);
      return ok(await endpoints.list(account));
    },

    /** Gives the endpoint a new secret. For 24 hours webhooks are signed with both secrets. */
    rotateEndpointSecret(id: EndpointId, account: AccountId): Promise<Result<Endpoint, NotFound>> {
      const previousUntil = new Date(clock.now().getTime() + SECRET_OVERLAP_MILLISECONDS);
      return endpoints.rotateSecret(id, account, ids.endpointSecret(), previousUntil);
    },

    /** Switches an endpoint on again, for later events only. Does nothing if it is on. */
    enableEndpoint(id: EndpointId, account: AccountId): Promise<Result<void, NotFound>> {
      return endpoints.enable(id, account);
    },

    /** Deletes an endpoint of the account; nothing more is sent to it. The default endpoint cannot be deleted. */
    deleteEndpoint(id: EndpointId, account: AccountId): Promise<Result<void, NotFound>> {
      return endpoints.delete(id, account, clock.now());
    },

    /** The account's deliveries of the last 30 days, newest first, `limit` at a time. */
    async listDeliveries(
      account: AccountId,
      limit: number,
      before?: DeliveryId,
    ): Promise<Result<DeliveryPage, NotFound>> {
      if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
      const { items, last } = pageOf(await deliveries.list(account, limit + 1, before), limit);
      return ok({ deliveries: items, next: last?.id });
    },

    /** Sends an event again, with the same `webhook-id`. Refused while the endpoint is switched off. */
    resendDelivery(id: DeliveryId, account: AccountId): Promise<Result<void, NotFound | EndpointOff>> {
      return deliveries.resend(id, account, clock.now());
    },
  };
}

/** The account's default endpoint, whose secret signs the webhooks to the `webhook_url` of its tasks. */
export function ensureDefaultEndpoint(
  ports: Pick<ApplicationPorts, "endpoints" | "clock" | "ids">,
  account: AccountId,
): Promise<Endpoint> {
  return ports.endpoints.ensureDefault(newEndpoint(ports, account, undefined));
}

/** Makes an endpoint with a new secret. Stores nothing. */
export function newEndpoint(
  { clock, ids }: Pick<ApplicationPorts, "clock" | "ids">,
  accountId: AccountId,
  url: string | undefined,
): Endpoint {
  return {
    id: ids.endpointId(),
    accountId,
    url,
    secret: ids.endpointSecret(),
    previous: undefined,
    createdAt: clock.now(),
    failingSince: undefined,
    off: undefined,
  };
}

/** Type of the test event. No real event has it, so receivers ignore it. */
const TEST_EVENT_TYPE = "webhook.test";

/** Result of a test. `detail`: as of a delivery, such as `status 500`. */
export type WebhookTest = { readonly isDelivered: boolean; readonly detail: string; readonly milliseconds: number };

export function endpointTests(ports: DeliveryPorts & Pick<ApplicationPorts, "endpoints" | "ids">) {
  const { endpoints, webhookSender, clock, ids, reporter } = ports;
  return {
    /**
     * Sends one signed test event to an endpoint of the account, even if it is switched off, and returns the result.
     * Checks the address like that of a real one. Not retried, in no list, and with an unused event id. The caller
     * limits the rate.
     */
    async testEndpoint(id: EndpointId, account: AccountId): Promise<Result<WebhookTest, NotFound>> {
      const endpoint = (await endpoints.list(account)).find((one) => one.id === id);
      if (endpoint?.url === undefined) return err(notFound(`There is no endpoint ${id} with a URL.`));
      const at = clock.now();
      const eventId = `evt_test_${ids.unguessable()}`;
      const body = JSON.stringify({ type: TEST_EVENT_TYPE, timestamp: at.toISOString(), data: {} });
      const result = await webhookSender.send({
        url: endpoint.url,
        id: eventId,
        body,
        secrets: secretsAt(endpoint, at),
        at,
      });
      const { kind: state, detail } = result;
      reporter.report({
        kind: "webhook_attempt",
        endpointId: endpoint.id,
        eventId,
        state,
        attempt: 1,
        detail,
        cause: result.kind === "failed" ? result.cause : undefined,
      });
      const milliseconds = clock.now().getTime() - at.getTime();
      return ok({ isDelivered: result.kind === "delivered", detail, milliseconds });
    },
  };
}
