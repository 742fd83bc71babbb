import type { Config } from "../config.js";
import { broken, type Finding, fine, reasonOf, warning } from "./finding.js";

const ANSWER_MILLISECONDS = 4_000;
const STRIPE_URL = "https://api.stripe.com";

/** Checks if Stripe accepts the key. Creates nothing there. */
export const checkStripe = async (
  { stripe }: Pick<Config, "stripe">,
  url = STRIPE_URL,
): Promise<readonly Finding[]> => {
  if (stripe === undefined) return [];
  const name = "Stripe";
  try {
    const answer = await fetch(`${url}/v1/balance`, {
      headers: { authorization: `Bearer ${stripe.secretKey}` },
      signal: AbortSignal.timeout(ANSWER_MILLISECONDS),
    });
    if (answer.status === 401) {
      return [broken(name, "configuration", "Stripe refuses STRIPE_SECRET_KEY. Copy it again from its dashboard.")];
    }
    // A restricted key may lack the right to read the balance, which payments do not need.
    if (!answer.ok && answer.status !== 403) {
      return [warning(name, `Stripe answered ${answer.status}. Orders cannot be paid while that lasts.`)];
    }
    return stripe.secretKey.startsWith("sk_test_")
      ? [warning(name, "STRIPE_SECRET_KEY is a key for tests: nobody pays. Set the live one.")]
      : [fine(name, "Stripe accepts STRIPE_SECRET_KEY.")];
  } catch (error) {
    return [broken(name, "unreachable", `Stripe cannot be reached: ${reasonOf((error as Error).cause ?? error)}.`)];
  }
};

/** Checks if the receiver of traces accepts an empty request. */
export const checkTraces = async ({ otlpEndpoint }: Pick<Config, "otlpEndpoint">): Promise<readonly Finding[]> => {
  if (otlpEndpoint === undefined) return [];
  const name = "traces";
  const url = `${otlpEndpoint.replace(/\/+$/, "")}/v1/traces`;
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"resourceSpans":[]}',
      signal: AbortSignal.timeout(ANSWER_MILLISECONDS),
    });
    return answer.ok
      ? [fine(name, `${url} takes traces.`)]
      : [warning(name, `${url} answered ${answer.status}, so traces are lost. Check OTEL_EXPORTER_OTLP_ENDPOINT.`)];
  } catch (error) {
    const reason = reasonOf((error as Error).cause ?? error);
    return [warning(name, `${url} cannot be reached: ${reason}. Traces are lost. Check OTEL_EXPORTER_OTLP_ENDPOINT.`)];
  }
};
