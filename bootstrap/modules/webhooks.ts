import { ContainerModule } from "inversify";
import { streamEvents } from "../../application/events/stream-events.js";
import { watchStreams } from "../../application/events/watch-streams.js";
import { createEndpoint } from "../../application/webhooks/create-endpoint.js";
import { deleteEndpoint } from "../../application/webhooks/delete-endpoint.js";
import { enableEndpoint } from "../../application/webhooks/enable-endpoint.js";
import { ensureDefaultEndpoint } from "../../application/webhooks/ensure-default-endpoint.js";
import { listDeliveries } from "../../application/webhooks/list-deliveries.js";
import { listEndpoints } from "../../application/webhooks/list-endpoints.js";
import { resendDelivery } from "../../application/webhooks/resend-delivery.js";
import { rotateEndpointSecret } from "../../application/webhooks/rotate-endpoint-secret.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The use cases about events: webhooks that accounts receive, and streams. */
export const webhooks = new ContainerModule(({ bind }) => {
  const { config, accounts, endpoints, deliveries, clock, ids } = tokens;

  const { events, tasks, eventSignals: signals } = tokens;
  provide(bind, tokens.streamEvents, { events, tasks, signals }, streamEvents);
  provide(bind, tokens.watchStreams, { events, signals }, watchStreams);
  provide(bind, tokens.ensureDefaultEndpoint, { endpoints, clock, ids }, ensureDefaultEndpoint);
  provide(bind, tokens.createEndpoint, { config, accounts, endpoints, clock, ids }, ({ config, ...ports }) =>
    createEndpoint(ports, { privateOrigins: config.webhookPrivateOrigins }),
  );
  provide(bind, tokens.listEndpoints, { accounts, endpoints, clock, ids }, listEndpoints);
  provide(bind, tokens.deleteEndpoint, { endpoints, clock }, deleteEndpoint);
  provide(bind, tokens.rotateEndpointSecret, { endpoints, clock, ids }, rotateEndpointSecret);
  provide(bind, tokens.enableEndpoint, { endpoints }, enableEndpoint);
  provide(bind, tokens.listDeliveries, { accounts, deliveries }, listDeliveries);
  provide(bind, tokens.resendDelivery, { deliveries, clock }, resendDelivery);
});
