import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type ObservedService, startObservedService } from "../../support/observed-service.js";
import { type ReceivedSpan, startOtlpReceiver } from "../../support/otlp-receiver.js";

/** A hook cannot use `expect.poll`. */
const POLL = { timeout: 120_000 };

const CLIENTS_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENTS_SPAN = "00f067aa0ba902b7";

describe("traces by OpenTelemetry", () => {
  let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
  let service: ObservedService;
  let taskId: string;
  let withoutHeader: string;

  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    service = await startObservedService({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      WEBHOOK_PRIVATE_ORIGINS: receiver.url,
    });
    await service.addWebhook(`${receiver.url}/hook`);
    // The worker has one slot, so the second task waits in the queue.
    const first = service.generate({ traceparent: `00-${CLIENTS_TRACE}-${CLIENTS_SPAN}-01` });
    await vi.waitFor(() => expect(service.provider.tasks).toHaveLength(1), POLL);
    [taskId, withoutHeader] = await Promise.all([first, service.generate()]);
    await vi.waitFor(() => expect(receiver.webhooks.length).toBeGreaterThanOrEqual(4), POLL);
    await service.close();
  });
  afterAll(() => receiver.close());

  const inTrace = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);
  /** The names of the spans above, from the span itself to the first one that is recorded. */
  const pathOf = (span: ReceivedSpan): string[] => {
    const parent = receiver.spans.find(({ spanId }) => spanId === span.parentSpanId);
    return [span.name, ...(parent === undefined ? [] : pathOf(parent))];
  };
  const REQUEST = "POST /api/v1/panoramas";

  it("record the whole life of a task in the client's trace", () => {
    const paths = new Set(inTrace(CLIENTS_TRACE).map((span) => pathOf(span).join(" < ")));
    for (const path of [
      REQUEST,
      `sql select < ${REQUEST}`,
      `sql insert < ${REQUEST}`,
      `provider submit < ${REQUEST}`,
      `provider poll < poll < ${REQUEST}`,
      `sql update < poll < ${REQUEST}`,
      `provider download < check < ${REQUEST}`,
      `image panorama < check < ${REQUEST}`,
      `image thumbnail < check < ${REQUEST}`,
      `storage put < check < ${REQUEST}`,
      `webhook send < deliver < ${REQUEST}`,
    ]) {
      expect(paths).toContain(path);
    }
    const roots = inTrace(CLIENTS_TRACE).filter((span) => pathOf(span).length === 1);
    expect(roots).toEqual([
      expect.objectContaining({
        name: REQUEST,
        parentSpanId: CLIENTS_SPAN,
        attributes: {
          "http.request.method": "POST",
          "http.route": "/api/v1/panoramas",
          "http.response.status_code": 202,
        },
      }),
    ]);
    expect(receiver.services).toEqual(new Set(["panorama"]));
  });

  it("begin with the request if the client sends no trace context", () => {
    const poll = receiver.spans.find(
      ({ name, attributes }) => name === "poll" && attributes["panorama.task.id"] === withoutHeader,
    );
    const trace = inTrace(poll?.traceId ?? "");
    const roots = trace.filter(({ parentSpanId }) => parentSpanId === undefined || parentSpanId === "");
    expect(roots.map(({ name }) => name)).toEqual([REQUEST]);
    expect(trace.map((span) => pathOf(span).join(" < "))).toContain(`provider submit < start < ${REQUEST}`);
    expect(trace.filter(({ name }) => name === "webhook send").length).toBeGreaterThanOrEqual(1);
    expect(trace.every(({ traceId }) => traceId !== CLIENTS_TRACE)).toBe(true);
  });

  it("hold no value of a statement", () => {
    const statements = receiver.spans.flatMap(({ attributes }) => attributes["db.query.text"] ?? []);
    expect(statements.length).toBeGreaterThan(10);
    expect(statements.join("\n")).not.toMatch(/quiet lake|sk-/);
    expect(statements.join("\n")).not.toContain(taskId);
  });

  it("continue at the provider and at the receivers of webhooks", () => {
    const submits = receiver.spans.filter(({ name }) => name === "provider submit");
    const sent = service.provider.server.requests.filter(({ method }) => method === "PUT");
    expect(sent.map(({ headers }) => headers.traceparent)).toEqual(
      submits.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
    );
    const webhooks = receiver.spans.filter(({ name }) => name === "webhook send");
    expect(receiver.webhooks.map(({ traceparent }) => traceparent).sort()).toEqual(
      webhooks.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort(),
    );
  });
});
