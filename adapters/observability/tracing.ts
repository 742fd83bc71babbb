import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from "@opentelemetry/sdk-trace-base";
import type { Task } from "../../domain/tasks/task.js";

type Attributes = Readonly<Record<string, string | number>>;

/** A call that leaves the process, or work inside it. */
type SpanOptions = {
  readonly kind: "client" | "internal";
  readonly attributes?: Attributes;
  /** Default: the current span. */
  readonly parent?: Span | undefined;
};
const KINDS = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/**
 * Traces by OpenTelemetry, sent to an OTLP/HTTP endpoint. This module loads the OpenTelemetry packages: import it only
 * if traces are wanted.
 *
 * Every span belongs to a request or to background work on a task: what has no such parent is not recorded. The work on
 * a task continues the trace of its creation, in whatever process it runs.
 */
export class Tracing {
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;
  private readonly ids = new GivenIds();
  private readonly running = new AsyncLocalStorage<Span>();

  /** `endpoint` is the base URL, to which `/v1/traces` is added. The service is named by OTEL_SERVICE_NAME. */
  constructor(endpoint: string, version: string) {
    const resource = resourceFromAttributes({
      "service.name": process.env.OTEL_SERVICE_NAME || "panorama",
      "service.version": version,
    });
    this.provider = new BasicTracerProvider({
      resource: defaultResource().merge(resource),
      idGenerator: this.ids,
      spanProcessors: [
        new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, "")}/v1/traces` })),
      ],
    });
    this.tracer = this.provider.getTracer("panorama-service", version);
  }

  current(): Span | undefined {
    return this.running.getStore();
  }

  /** The W3C trace context of the current span. */
  traceparent(): string | undefined {
    const span = this.current();
    return span && traceparentOf(span);
  }

  /**
   * Runs `work` in the span of a request, which `endRequest` ends. If `isClients`, `trace` has the client's trace
   * context; otherwise a new one, whose trace id the span takes. It is set to the context of the span.
   */
  request(trace: { traceparent: string }, work: () => void | Promise<void>): void {
    const [, traceId = "", parentId = ""] = trace.traceparent.split("-");
    // A new trace repeats half of its id as the id of a parent that was never recorded.
    const isNew = traceId.endsWith(parentId);
    const span = isNew
      ? this.ids.within(traceId, () => this.tracer.startSpan("request", { kind: SpanKind.SERVER }, ROOT_CONTEXT))
      : this.tracer.startSpan("request", { kind: SpanKind.SERVER }, contextOf(trace.traceparent));
    trace.traceparent = traceparentOf(span);
    void this.running.run(span, work);
  }

  /** Must be called in the `work` of `request`. */
  endRequest(method: string, route: string, status: number): void {
    const span = this.current();
    if (span === undefined) return;
    span.updateName(`${method} ${route}`);
    span.setAttributes({ "http.request.method": method, "http.route": route, "http.response.status_code": status });
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  /** Runs background work on a task as a span of the trace of its creation. */
  onTask<T>(work: string, task: Task | undefined, run: () => Promise<T>): Promise<T> {
    if (task === undefined) return run();
    const attributes = { "panorama.task.id": task.id, "panorama.task.state": task.state };
    const options = { kind: SpanKind.INTERNAL, attributes };
    // Tasks of the web pages have no trace context: their trace has the task's id.
    const span =
      task.traceparent === undefined
        ? this.ids.within(task.id.replaceAll("-", ""), () => this.tracer.startSpan(work, options, ROOT_CONTEXT))
        : this.tracer.startSpan(work, options, contextOf(task.traceparent));
    return this.running.run(span, () => ending(span, run));
  }

  /** Runs `work` as a span below the current one, or below `parent`. Without either, only runs it. */
  span<T>(name: string, { kind, attributes = {}, parent = this.current() }: SpanOptions, work: () => T): T {
    if (parent === undefined) return work();
    const span = this.tracer.startSpan(name, { kind: KINDS[kind], attributes }, trace.setSpan(ROOT_CONTEXT, parent));
    return this.running.run(span, () => ending(span, work));
  }

  /** Sends the recorded spans. */
  close(): Promise<void> {
    return this.provider.shutdown();
  }
}

/** The first span of a trace gets the trace id that is set meanwhile. */
class GivenIds extends RandomIdGenerator {
  private traceId: string | undefined;

  constructor() {
    super();
    const random = this.generateTraceId;
    this.generateTraceId = () => this.traceId ?? random();
  }

  within<T>(traceId: string, start: () => T): T {
    this.traceId = /^[0-9a-f]{32}$/.test(traceId) ? traceId : undefined;
    try {
      return start();
    } finally {
      this.traceId = undefined;
    }
  }
}

/** Ends the span with the work. An error value, as well as a thrown error, marks it. */
const ending = <T>(span: Span, work: () => T): T => {
  const end = (result: unknown): void => {
    const error = isErr(result) ? result.error : undefined;
    if (error !== undefined) {
      span.setAttribute("error.type", kindOf(error));
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  };
  const fail = (thrown: unknown): never => {
    span.setAttribute("error.type", thrown instanceof Error ? thrown.name : "thrown");
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    throw thrown;
  };
  try {
    const result = work();
    if (result instanceof Promise) {
      return result.then((value) => {
        end(value);
        return value;
      }, fail) as T;
    }
    end(result);
    return result;
  } catch (thrown) {
    return fail(thrown);
  }
};

const isErr = (result: unknown): result is { readonly error: unknown } =>
  typeof result === "object" && result !== null && "isErr" in result && "error" in result;

const kindOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "kind" in error ? String(error.kind) : "error";

const traceparentOf = (span: Span): string => {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
};

const contextOf = (traceparent: string): Context => {
  const [, traceId = "", spanId = "", flags = "00"] = traceparent.split("-");
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
  });
};
