import type { Dispatcher } from "undici";
import { PROXY_HEADER } from "../adapters/client/requests/connection-failure.js";
import { proxyFor } from "../adapters/system/proxy.js";

const VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"] as const;

/** A proxy that does not answer a CONNECT is reported before the client gives up. */
const CONNECT_MILLISECONDS = 10_000;

/**
 * Makes `fetch` of this process use the proxy of HTTPS_PROXY, HTTP_PROXY and NO_PROXY, which Node.js ignores: a tunnel
 * for https, and for http the absolute form, because many proxies open tunnels to port 443 only. Loads undici only if
 * there is a proxy. Returns a sentence if a variable is no URL of a proxy.
 */
export const useProxy = async (): Promise<string | undefined> => {
  const names = VARIABLES.filter((name) => process.env[name]);
  if (names.length === 0) return undefined;
  // Without its value, which can hold a password.
  const wrong = names.find((name) => !/^https?:$/.test(protocolOf(process.env[name] ?? "")));
  if (wrong !== undefined) return `${wrong} must be the URL of a proxy, such as http://proxy.example:3128.`;
  const { Agent, Pool, ProxyAgent, setGlobalDispatcher } = await import("undici");

  const tunnelThrough = (proxy: URL): Dispatcher =>
    new ProxyAgent({
      uri: proxy.origin,
      ...authorization(proxy, "token"),
      clientFactory: (origin, options) => {
        const pool = new Pool(origin, { ...options, headersTimeout: CONNECT_MILLISECONDS });
        const connect = pool.connect.bind(pool) as Connect;
        // The agent would connect again and again if the proxy closes the connection, and its errors lack the proxy.
        const throughProxy: Connect = async (given) => {
          try {
            const answer = await connect(given);
            if (answer.statusCode === 200) return answer;
            answer.socket.on("error", () => {}).destroy();
            throw new Error(`Proxy response (${answer.statusCode})`);
          } catch (cause) {
            throw Object.assign(new Error("no tunnel", { cause }), { proxy: proxy.host });
          }
        };
        return Object.assign(pool, { connect: throughProxy });
      },
    });
  let tunnel: Dispatcher | undefined;
  const agent = new Agent().compose((dispatch) => (options, handler) => {
    const origin = new URL(String(options.origin));
    const proxy = proxyFor(origin);
    if (proxy === undefined) return dispatch(options, handler);
    if (origin.protocol === "https:") {
      tunnel ??= tunnelThrough(proxy);
      return tunnel.dispatch(options, handler);
    }
    const headers = {
      ...(options.headers as object),
      host: origin.host,
      ...authorization(proxy, "proxy-authorization"),
    };
    const start = handler.onResponseStart?.bind(handler);
    handler.onResponseStart = (controller, status, received, text) => {
      // `fetch` says nothing about it.
      if (status === 407)
        controller.abort(Object.assign(new Error(`Proxy response (${status})`), { proxy: proxy.host }));
      else start?.(controller, status, { ...received, [PROXY_HEADER]: proxy.host }, text);
    };
    return dispatch({ ...options, origin: proxy.origin, path: origin.origin + options.path, headers }, handler);
  });
  setGlobalDispatcher(agent);
  return undefined;
};

type Connect = (options: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData>;

const authorization = <Name extends string>(
  { username, password }: URL,
  name: Name,
): { readonly [name in Name]?: string } => {
  if (username === "") return {};
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return { [name]: `Basic ${Buffer.from(credentials).toString("base64")}` } as { readonly [name in Name]?: string };
};

/** A percent sign that begins no code stands for itself. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : "");
