import type { IncomingHttpHeaders } from "node:http";
import { json } from "node:stream/consumers";
import { startLocalServer } from "./local-server.js";

/** A span as OTLP/HTTP carries it in JSON. Ids are hexadecimal. */
export type ReceivedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
};

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type Export = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, "attributes"> & { readonly attributes: readonly Attribute[] })[];
    }[];
  }[];
};

/** Receives traces at `/v1/traces` as an OpenTelemetry collector does, and webhooks at every other path. */
export const startOtlpReceiver = async () => {
  const spans: ReceivedSpan[] = [];
  const services = new Set<unknown>();
  const webhooks: IncomingHttpHeaders[] = [];
  const { origin, close } = await startLocalServer(async (request, response) => {
    if (request.url !== "/v1/traces") {
      request.resume();
      webhooks.push(request.headers);
      return response.writeHead(204).end();
    }
    const { resourceSpans } = (await json(request)) as Export;
    for (const { resource, scopeSpans } of resourceSpans) {
      services.add(valuesOf(resource.attributes)["service.name"]);
      for (const scope of scopeSpans) {
        for (const span of scope.spans) spans.push({ ...span, attributes: valuesOf(span.attributes) });
      }
    }
    return response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  return { url: origin, spans, services, webhooks, close };
};

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
