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
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Reporter } from "../ports/reporter.js";
import type { AccessRefused, AdmittedBy } from "../ports/stores/access.js";
import type { AccountStore } from "../ports/stores/account-stores.js";
import type { EndpointStore } from "../ports/stores/webhook-stores.js";
import type { WebhookSender } from "../ports/webhook-sender.js";

/** Ports of a new endpoint. */
type NewEndpointPorts = {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "endpointId" | "endpointSecret">;
};

/** Makes an endpoint with a new secret. Stores nothing. */
export const newEndpoint = (
  { clock, ids }: NewEndpointPorts,
  accountId: AccountId,
  url: string | undefined,
): Endpoint => ({
  id: ids.endpointId(),
  accountId,
  url,
  secret: ids.endpointSecret(),
  previous: undefined,
  createdAt: clock.now(),
  failingSince: undefined,
  off: undefined,
});

type CreateEndpointPorts = NewEndpointPorts & {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly endpoints: Pick<EndpointStore, "insert">;
};

/** `privateOrigins`: origins that may receive webhooks over http or at a private address. */
type EndpointSettings = { readonly privateOrigins: readonly string[] };

/** Adds an endpoint to the account. It gets every event from now on. */
export const createEndpoint =
  (ports: CreateEndpointPorts, { privateOrigins }: EndpointSettings) =>
  async (
    account: AccountId,
    url: string,
    admittedBy?: AdmittedBy,
  ): Promise<Result<Endpoint, InvalidRequest | TooManyEndpoints | NotFound | AccessRefused>> => {
    const parsed = parseEndpointUrl(url, privateOrigins);
    if (parsed.isErr()) return err(parsed.error);
    if (!(await ports.accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
    const endpoint = newEndpoint(ports, account, parsed.value);
    const access = admittedBy && { ...admittedBy, now: endpoint.createdAt };
    const inserted = await ports.endpoints.insert(endpoint, (urls) => admitEndpointAt(parsed.value, urls), access);
    return inserted.isErr() ? err(inserted.error) : ok(endpoint);
  };

type EnsureDefaultEndpointPorts = NewEndpointPorts & { readonly endpoints: Pick<EndpointStore, "ensureDefault"> };

/** The account's default endpoint, whose secret signs the webhooks to the `webhook_url` of its tasks. */
export const ensureDefaultEndpoint =
  (ports: EnsureDefaultEndpointPorts) =>
  (account: AccountId): Promise<Endpoint> =>
    ports.endpoints.ensureDefault(newEndpoint(ports, account, undefined));

type ListEndpointsPorts = NewEndpointPorts & {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly endpoints: Pick<EndpointStore, "ensureDefault" | "list">;
};

/** The account's endpoints, oldest first, with the default endpoint, which has no URL. */
export const listEndpoints =
  (ports: ListEndpointsPorts) =>
  async (account: AccountId): Promise<Result<readonly Endpoint[], NotFound>> => {
    if (!(await ports.accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
    await ensureDefaultEndpoint(ports)(account);
    return ok(await ports.endpoints.list(account));
  };

type RotateEndpointSecretPorts = {
  readonly endpoints: Pick<EndpointStore, "rotateSecret">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "endpointSecret">;
};

/** Gives the endpoint a new secret. For 24 hours webhooks are signed with both secrets. */
export const rotateEndpointSecret =
  ({ endpoints, clock, ids }: RotateEndpointSecretPorts) =>
  (id: EndpointId, account: AccountId): Promise<Result<Endpoint, NotFound>> => {
    const previousUntil = new Date(clock.now().getTime() + SECRET_OVERLAP_MILLISECONDS);
    return endpoints.rotateSecret(id, account, ids.endpointSecret(), previousUntil);
  };

type DeleteEndpointPorts = { readonly endpoints: Pick<EndpointStore, "delete">; readonly clock: Pick<Clock, "now"> };

/** Deletes an endpoint of the account; nothing more is sent to it. The default endpoint cannot be deleted. */
export const deleteEndpoint =
  ({ endpoints, clock }: DeleteEndpointPorts) =>
  (id: EndpointId, account: AccountId): Promise<Result<void, NotFound>> =>
    endpoints.delete(id, account, clock.now());

type TestEndpointPorts = {
  readonly endpoints: Pick<EndpointStore, "list">;
  readonly webhookSender: WebhookSender;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "unguessable">;
  readonly reporter: Pick<Reporter, "report">;
};

/** Type of the test event. No real event has it, so receivers ignore it. */
const TEST_EVENT_TYPE = "webhook.test";

/** Result of a test. `detail`: as of a delivery, such as `status 500`. */
export type WebhookTest = { readonly isDelivered: boolean; readonly detail: string; readonly milliseconds: number };

/**
 * Sends one signed test event to an endpoint of the account, even if it is switched off, and returns the result. Checks
 * the address like that of a real one. Not retried, in no list, and with an unused event id. The caller limits the
 * rate.
 */
export const testEndpoint =
  ({ endpoints, webhookSender, clock, ids, reporter }: TestEndpointPorts) =>
  async (id: EndpointId, account: AccountId): Promise<Result<WebhookTest, NotFound>> => {
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
  };
