/** The proxy for requests to a URL, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY. `undefined` if there is none. */
export const proxyFor = ({ protocol, hostname, port }: URL, environment = process.env): URL | undefined => {
  const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY } = environment;
  const proxy = (protocol === "https:" && (https_proxy ?? HTTPS_PROXY)) || (http_proxy ?? HTTP_PROXY);
  if (!proxy || !URL.canParse(proxy)) return undefined;
  const host = `.${hostname.replace(/^\[|\]$/g, "")}`;
  const usedPort = port || (protocol === "https:" ? "443" : "80");
  const isExcepted = (no_proxy ?? NO_PROXY ?? "")
    .toLowerCase()
    .split(/[,\s]+/)
    .some((entry) => {
      // An IPv6 address without brackets has no port.
      const [, name = entry, onlyPort = usedPort] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
      const plain = name.replace(/^\*?\.|^\[|\]$/g, "");
      return entry === "*" || (plain !== "" && onlyPort === usedPort && host.endsWith(`.${plain}`));
    });
  return isExcepted ? undefined : new URL(proxy);
};
