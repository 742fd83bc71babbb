import { errorBody } from "../replies/errors.js";
import { type Handler, JSON_FALLBACK } from "../router.js";

/** `OPTIONS`, and methods that a path does not have. `methods`: those that it has. */
export function otherMethodRoute(methods: readonly string[]): Handler {
  const allow = [...methods, "OPTIONS"].join(", ");
  return (exchange) => {
    const { method } = exchange;
    if (method !== "OPTIONS") {
      const message = `This path has no ${method}, only ${allow}. /api/v1/openapi.json describes the interface.`;
      return errorBody(405, "invalid_request", message, { headers: { allow } });
    }
    // A browser asks for a page of another origin. The server has answered if that page may call it (allow-origin.ts).
    if (exchange.header("access-control-request-method") !== undefined) return JSON_FALLBACK.notFound(exchange);
    return { status: 204, headers: { allow }, body: undefined };
  };
}
