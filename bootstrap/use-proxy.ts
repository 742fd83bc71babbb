const VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"] as const;

/**
 * Makes `fetch` of this process use the proxy of HTTPS_PROXY, HTTP_PROXY and NO_PROXY, which Node.js ignores. Loads
 * undici only if there is one. Returns a sentence if a variable is no URL of a proxy.
 */
export const useProxy = async (): Promise<string | undefined> => {
  const names = VARIABLES.filter((name) => process.env[name]);
  if (names.length === 0) return undefined;
  // Without its value, which can hold a password.
  const wrong = names.find((name) => !/^https?:$/.test(protocolOf(process.env[name] ?? "")));
  if (wrong !== undefined) return `${wrong} must be the URL of a proxy, such as http://proxy.example:3128.`;
  const { EnvHttpProxyAgent, setGlobalDispatcher } = await import("undici");
  setGlobalDispatcher(new EnvHttpProxyAgent());
  return undefined;
};

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : "");
