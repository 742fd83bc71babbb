import { json } from "../replies/reply.js";
import type { Handler } from "../router.js";

/** One dependency of the service and whether it is available. `detail` is a sentence for the operator. */
export type Dependency = { readonly name: string; readonly ok: boolean; readonly detail: string };

/** `GET /healthz`: always 200 while the process runs. */
export const healthRoute: Handler = async () => json(200, { status: "ok" });

/** `GET /readyz`: 200 if a load balancer should send requests to this instance, else 503. */
export function readinessRoute(runChecks: () => Promise<readonly Dependency[]>, isStopping: () => boolean): Handler {
  return async () => {
    const checks = await runChecks();
    if (isStopping()) return notReady("The service is stopping.", checks);
    const failing = checks.filter(({ ok }) => !ok).map(({ name }) => name);
    return failing.length === 0
      ? json(200, { status: "ready", checks })
      : notReady(`The service is not ready: ${failing.join(", ")}.`, checks);
  };
}

const notReady = (message: string, checks: readonly Dependency[]) =>
  json(503, { error: { code: "not_ready", message }, checks });

/** `GET /metrics`, for Prometheus. */
export const metricsRoute =
  (metrics: () => Promise<string>): Handler =>
  async () => ({
    status: 200,
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" },
    body: await metrics(),
  });
