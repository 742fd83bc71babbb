import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import { type EndpointId, secretsAt } from "../../domain/webhooks/webhook-endpoint.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Reporter } from "../ports/reporter.js";
import type { EndpointStore } from "../ports/stores/endpoint-store.js";
import type { WebhookSender } from "../ports/webhook-sender.js";

type Ports = {
  readonly endpoints: Pick<EndpointStore, "list">;
  readonly webhookSender: WebhookSender;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "unguessable">;
  readonly reporter: Pick<Reporter, "report">;
};

/** The type of the test event. No real event has it, so a receiver that knows only those does nothing. */
export const TEST_EVENT_TYPE = "webhook.test";

/** What came of the test. `detail`: as of a delivery, such as `status 500`. */
export type WebhookTest = { readonly isDelivered: boolean; readonly detail: string; readonly milliseconds: number };

/**
 * Sends an event to one endpoint of the account and waits for the answer: signed and guarded as real ones, of a type of
 * its own, and with an id that no event has. It is sent once, also to an endpoint that is switched off, and is in no
 * list. The caller limits how often.
 */
export const testEndpoint =
  ({ endpoints, webhookSender, clock, ids, reporter }: Ports) =>
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
    const cause = result.kind === "failed" ? result.cause : undefined;
    reporter.report({
      kind: "webhook_attempt",
      endpointId: endpoint.id,
      eventId,
      state,
      attempt: 1,
      detail,
      ...(cause !== undefined && { cause }),
    });
    const milliseconds = clock.now().getTime() - at.getTime();
    return ok({ isDelivered: result.kind === "delivered", detail, milliseconds });
  };
