import { err, ok, type Result, safeTry } from "neverthrow";
import type { NotFound } from "../../application/errors.js";
import type { ListedDelivery } from "../../application/ports/stores/webhook-stores.js";
import type { AccountId } from "../../domain/ids.js";
import { eventIdOf } from "../../domain/tasks/account-event.js";
import type { Endpoint, EndpointId } from "../../domain/webhooks/webhook-endpoint.js";
import { type CommandError, misused, refused } from "../command-error.js";
import { tokens } from "../tokens.js";
import { ACCOUNT, type Command, type Output, textOf, type Values } from "./common/command.js";
import { invalidOption } from "./common/invalid-option.js";
import { nextLine } from "./common/page.js";

const ENDPOINT = { ...ACCOUNT, endpoint: { type: "string", about: "id of the endpoint" } } as const;

const LISTED_DELIVERIES = 100;

const accountOf = (values: Values) => textOf(values, "account") as AccountId;
const endpointOf = (values: Values) => textOf(values, "endpoint") as EndpointId;

export const webhookCreate: Command = {
  words: "webhook create",
  about: "Adds an endpoint, to which events of the account are sent.",
  usage: "--account ID --url URL",
  options: { ...ACCOUNT, url: { type: "string", about: "https URL that gets the events" } },
  required: ["account", "url"],
  example: "webhook create --account acc_… --url https://receiver.example.com/hook",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const { webhooks } = await service.get(tokens.storeUseCases);
      const created = await webhooks.createEndpoint(accountOf(values), textOf(values, "url"));
      const endpoint = yield* created.mapErr((error) => {
        switch (error.kind) {
          case "invalid_request":
            return invalidOption(error);
          case "too_many_endpoints":
            return refused(`The account already has ${error.limit} endpoints, the maximum. Delete one first.`);
          case "not_found":
            return error;
          default:
            return refused("The account is closed.");
        }
      });
      return ok({ json: endpointJson(endpoint), lines: endpointLines(endpoint) });
    }),
};

export const webhookList: Command = {
  words: "webhook list",
  about: "Lists the endpoints of an account with their secrets.",
  usage: "--account ID",
  options: ACCOUNT,
  required: ["account"],
  example: "webhook list --account acc_…",
  run: async (service, values) => {
    const { webhooks } = await service.get(tokens.storeUseCases);
    const listed = await webhooks.listEndpoints(accountOf(values));
    return listed.map((endpoints) => ({
      json: { endpoints: endpoints.map(endpointJson) },
      lines: endpoints.flatMap(endpointLines),
    }));
  },
};

export const webhookDelete: Command = {
  words: "webhook delete",
  about: "Deletes an endpoint.",
  usage: "--account ID --endpoint ID",
  options: ENDPOINT,
  required: ["account", "endpoint"],
  example: "webhook delete --account acc_… --endpoint we_…",
  isRecorded: true,
  run: async (service, values) => {
    const { webhooks } = await service.get(tokens.storeUseCases);
    const id = endpointOf(values);
    return changed(await webhooks.deleteEndpoint(id, accountOf(values)), id, "deleted");
  },
};

export const webhookRotate: Command = {
  words: "webhook rotate",
  about: "Gives an endpoint a new secret. The old one is valid for another 24 hours.",
  usage: "--account ID --endpoint ID",
  options: ENDPOINT,
  required: ["account", "endpoint"],
  example: "webhook rotate --account acc_… --endpoint we_…",
  isRecorded: true,
  run: async (service, values) => {
    const { webhooks } = await service.get(tokens.storeUseCases);
    const rotated = await webhooks.rotateEndpointSecret(endpointOf(values), accountOf(values));
    return rotated.map((endpoint) => ({ json: endpointJson(endpoint), lines: endpointLines(endpoint) }));
  },
};

export const webhookEnable: Command = {
  words: "webhook enable",
  about: "Switches an endpoint on again.",
  usage: "--account ID --endpoint ID",
  options: ENDPOINT,
  required: ["account", "endpoint"],
  example: "webhook enable --account acc_… --endpoint we_…",
  isRecorded: true,
  run: async (service, values) => {
    const { webhooks } = await service.get(tokens.storeUseCases);
    const id = endpointOf(values);
    return changed(await webhooks.enableEndpoint(id, accountOf(values)), id, "on");
  },
};

export const webhookDeliveries: Command = {
  words: "webhook deliveries",
  about: "Lists the latest deliveries of an account, newest first.",
  usage: "--account ID [--before DELIVERY]",
  options: { ...ACCOUNT, before: { type: "string", about: "only deliveries older than this one" } },
  required: ["account"],
  example: "webhook deliveries --account acc_…",
  run: async (service, values) => {
    const before = values.before === undefined ? undefined : Number(textOf(values, "before"));
    if (before !== undefined && !Number.isSafeInteger(before)) return badDelivery("before");
    const { webhooks } = await service.get(tokens.storeUseCases);
    const listed = await webhooks.listDeliveries(accountOf(values), LISTED_DELIVERIES, before);
    return listed.map(({ deliveries, next }) => ({
      json: { deliveries: deliveries.map(deliveryJson), next: next ?? null },
      lines: [...deliveries.map(deliveryLine), ...nextLine(next)],
    }));
  },
};

export const webhookResend: Command = {
  words: "webhook resend",
  about: "Sends an event again.",
  usage: "--account ID --delivery ID",
  options: { ...ACCOUNT, delivery: { type: "string", about: "number of the delivery" } },
  required: ["account", "delivery"],
  example: "webhook resend --account acc_… --delivery 42",
  isRecorded: true,
  run: async (service, values) => {
    const id = Number(textOf(values, "delivery"));
    if (!Number.isSafeInteger(id)) return badDelivery("delivery");
    const { webhooks } = await service.get(tokens.storeUseCases);
    const sent = await webhooks.resendDelivery(id, accountOf(values));
    return sent
      .map(() => ({ json: { delivery_id: id, state: "pending" }, lines: [`delivery ${id} will be sent again`] }))
      .mapErr((error) =>
        error.kind === "not_found"
          ? error
          : refused(
              `The endpoint of delivery ${id} is switched off or deleted. Switch it on first: panorama webhook enable.`,
            ),
      );
  },
};

const badDelivery = (option: string) => err(misused(`--${option} must be the number of a delivery.`));

const changed = (result: Result<void, NotFound>, id: EndpointId, status: string): Result<Output, CommandError> =>
  result.map(() => ({ json: { endpoint_id: id, status }, lines: [`endpoint ${id} is ${status}`] }));

const endpointJson = ({ id, url, secret, previous, createdAt, failingSince, off }: Endpoint) => ({
  endpoint_id: id,
  url: url ?? null,
  secret,
  previous_secret_valid_until: previous?.until.toISOString() ?? null,
  created_at: createdAt.toISOString(),
  failing_since: failingSince?.toISOString() ?? null,
  off_since: off?.at.toISOString() ?? null,
  off_reason: off?.reason ?? null,
});

const endpointLines = ({ id, url, secret, failingSince, off }: Endpoint): string[] => {
  const failing = failingSince === undefined ? "on" : `failing since ${failingSince.toISOString()}`;
  const state = off === undefined ? failing : `switched off ${off.at.toISOString()}: ${off.reason}`;
  return [`${id}  ${state}  ${url ?? "(the webhook_url of single tasks)"}`, `  secret ${secret}`];
};

const deliveryJson = ({ id, delivery, event, url }: ListedDelivery) => ({
  delivery_id: id,
  webhook_id: eventIdOf(event),
  type: event.type,
  task_id: event.type === "credits.low" ? null : event.taskId,
  at: event.at.toISOString(),
  url,
  state: delivery.state,
  attempts: delivery.attempts,
  detail: delivery.detail ?? null,
  next_attempt_at: delivery.state === "pending" ? delivery.dueAt.toISOString() : null,
});

const deliveryLine = ({ id, delivery, event, url }: ListedDelivery): string =>
  [
    id,
    event.at.toISOString(),
    event.type,
    event.type === "credits.low" ? "-" : event.taskId,
    `${delivery.state} after ${delivery.attempts} attempts (${delivery.detail ?? "not tried yet"})`,
    url,
  ].join("  ");
