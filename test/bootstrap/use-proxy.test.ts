import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Agent, EnvHttpProxyAgent, setGlobalDispatcher } from "undici";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { downloadImage } from "../../adapters/client/download-image.js";
import { PanoramaClient } from "../../adapters/client/panorama-client.js";
import { proxyFor } from "../../adapters/system/proxy.js";
import { useProxy } from "../../bootstrap/use-proxy.js";
import { failureOf } from "../adapters/client/client-setup.js";
import { FakeService } from "../support/fake-service.js";
import { pngBytes } from "../support/image-bytes.js";

describe("the proxy of the environment", () => {
  let service: FakeService;
  /** What the proxy was asked to connect to. Only the service exists behind it. */
  let targets: string[];
  /** Status of its answers to plain http; 200: that of the service; -1: it does not answer. */
  let forwards: number;
  /** Content type of these answers. */
  let page: string;
  /** Status of its answers to CONNECT; 0: it closes the connection; -1: it does not answer. */
  let tunnels: number;
  const proxy = createServer((incoming, answer) => {
    const { method, url = "", headers } = incoming;
    targets.push(url);
    if (forwards < 0) return void setTimeout(() => answer.destroy(), 1_000);
    if (forwards !== 200) {
      answer.writeHead(forwards, page === "" ? {} : { "content-type": page }).end("<html>a page of the proxy</html>");
      return;
    }
    const forwarded = request(url, { method, headers }, (received) => {
      answer.writeHead(received.statusCode ?? 0, received.headers);
      received.pipe(answer);
    });
    incoming.pipe(forwarded);
  }).on("connect", ({ url = "" }, socket, head) => {
    targets.push(url);
    const { hostname, port } = new URL(`http://${url}`);
    if (hostname !== "127.0.0.1") {
      if (tunnels < 0) return void setTimeout(() => socket.destroy(), 1_000);
      if (tunnels === 0) socket.end();
      else socket.end(`HTTP/1.1 ${tunnels} No\r\nContent-Length: 2\r\n\r\nno`);
      return;
    }
    const upstream = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) end.on("error", () => upstream.destroy());
  });

  beforeEach(async () => {
    service = await FakeService.start();
    targets = [];
    [forwards, tunnels, page] = [200, 403, "text/html"];
    await once(proxy.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    for (const name of ["HTTPS_PROXY", "HTTP_PROXY"]) vi.stubEnv(name, url);
    for (const name of ["https_proxy", "http_proxy", "NO_PROXY", "no_proxy"]) vi.stubEnv(name, undefined);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    setGlobalDispatcher(new Agent()); // other files of tests run in this process
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
    await service.stop();
  });

  const options = () => ({ baseUrl: service.origin, apiKey: service.apiKey, maxRetries: 0 });
  const host = () => new URL(service.origin).host;

  it("is used by the client with the documented option, also for an upload", async () => {
    const dispatcher = new EnvHttpProxyAgent();
    const client = new PanoramaClient({
      ...options(),
      fetch: (url, init) => fetch(url, { ...init, dispatcher } as object),
    });
    expect(await client.credits()).toEqual({ remaining_credits: 100 });
    expect((await client.upload({ bytes: pngBytes(100) })).image_urls).toHaveLength(1);
    expect(new Set(targets)).toEqual(new Set([host()]));
    await dispatcher.close();
  });

  it("is refused as an invalid URL without showing its value", async () => {
    vi.stubEnv("HTTPS_PROXY", "user:secret@proxy:3128");
    expect(await useProxy()).toBe("HTTPS_PROXY must be the URL of a proxy, such as http://proxy.example:3128.");
  });

  it("uses the proxy for every fetch, except for NO_PROXY hosts", async () => {
    expect(await useProxy()).toBeUndefined();
    const client = new PanoramaClient(options());
    expect((await client.upload({ bytes: pngBytes(100) })).image_urls).toHaveLength(1);
    await downloadImage("https://pictures.invalid/a.jpg", { bytesMax: 100, seconds: 10 });
    expect(targets).toContain(`${service.origin}/api/v1/images`); // no tunnel: a proxy may allow it to port 443 only
    expect(targets).toContain("pictures.invalid:443");

    vi.stubEnv("NO_PROXY", "127.0.0.1");
    await useProxy();
    targets = [];
    expect(await client.credits()).toEqual({ remaining_credits: 100 });
    expect(targets).toEqual([]);
  });

  const aCreation = { prompt: "a quiet lake", resolution: "1k" } as const;
  const failureAt = (origin: string, maxRetries = 0, timeout = 10_000) =>
    failureOf(new PanoramaClient({ ...options(), baseUrl: origin, maxRetries, timeout }).create(aCreation));
  const proxyHost = () => `127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  it.each([
    ["https://service.example", 0, "did not complete the connection (UND_ERR_SOCKET)."],
    ["https://service.example", 403, "does not let the request through and answers 403."],
    ["https://service.example", 407, "it wants a user name and a password"],
    ["https://service.example", 502, "does not let the request through and answers 502."],
    ["http://service.example", 407, "it wants a user name and a password"],
  ])("says that the proxy refused a creation at %s with %s, which was not accepted", async (origin, status, words) => {
    [forwards, tunnels] = [status, status];
    await useProxy();
    const error = await failureAt(origin, status === 403 || status === 407 ? 5 : 0); // repeated in vain
    expect(error).toMatchObject({ code: "network_error", mayHaveBeenAccepted: false });
    expect(error.message).toContain(`${origin}/api/v1 cannot be reached: the proxy ${proxyHost()} `);
    expect(error.message).toContain(words);
    expect(targets).toHaveLength(1);
  });

  it.each([
    [403, "text/html", false, 5],
    [403, "application/json", false, 5],
    [404, "text/plain", false, 5],
    [502, "text/html", true, 0],
    [503, "", true, 0],
    [504, "application/json", true, 0],
  ])(
    "names the service and the proxy after %s with %j to a forwarded creation",
    async (status, type, mayHave, retries) => {
      [forwards, page] = [status, type];
      await useProxy();
      const error = await failureAt("http://service.example", retries);
      expect(error).toMatchObject({ code: "unexpected_answer", status, mayHaveBeenAccepted: mayHave });
      expect(error.message).toBe(
        `http://service.example/api/v1, or the proxy ${proxyHost()} on the way there, answered ${status} ` +
          `with ${type || "no content type"}, which is not an answer of the panorama service.`,
      );
      expect(targets).toHaveLength(1);
    },
  );

  it("passes the service's own 403 on, and names the proxy of a picture", async () => {
    await useProxy();
    service.failNext("POST", "/panoramas", {
      kind: "answer",
      status: 403,
      body: '{"error":{"code":"invalid_request","message":"Not here."}}',
    });
    expect((await failureAt(service.origin)).message).toBe("Not here.");
    forwards = 403;
    const url = "http://pictures.example/a.jpg";
    const picture = await downloadImage(url, { bytesMax: 100, seconds: 10 });
    expect(picture._unsafeUnwrapErr()).toBe(`${url}, or the proxy ${proxyHost()} on the way there, answered 403`);
  });

  it("is known not to have passed a creation on if it does not answer CONNECT before the time-out", async () => {
    tunnels = -1;
    await useProxy();
    const error = await failureAt("https://service.example", 0, 300);
    expect(error).toMatchObject({ code: "timeout", mayHaveBeenAccepted: false });
    expect(error.message).toContain("cannot be reached: there was no connection in time.");
    forwards = -1;
    expect(await failureAt("http://service.example", 0, 300)).toMatchObject({ mayHaveBeenAccepted: true });
  });

  it.each(["http://service.example", "https://service.example"])(
    "names a proxy that is down, for %s",
    async (origin) => {
      for (const name of ["HTTPS_PROXY", "HTTP_PROXY"]) vi.stubEnv(name, "http://user:secret@proxy.invalid:3128");
      await useProxy();
      const error = await failureAt(origin);
      expect(error.message).toContain("there is no host with the name of the proxy proxy.invalid:3128 (ENOTFOUND).");
      expect(error.mayHaveBeenAccepted).toBe(false);
    },
  );

  it.each([
    ["", true],
    ["*", false],
    ["ample", true],
    ["service.example", false],
    ["SERVICE.example", false],
    [".example, other.test", false],
    [" api.test .service.example", false],
    ["*.service.example", false],
    ["vice.example", true],
    ["service.example:443", false],
    ["service.example:8443", true],
  ])("applies to a host with NO_PROXY=%j: %s", (no_proxy, isUsed) => {
    const environment = { http_proxy: "http://proxy.test:1", no_proxy };
    const used = proxyFor(new URL("https://www.service.example/"), environment)?.host;
    expect(used).toBe(isUsed ? "proxy.test:1" : undefined);
  });

  it("does not apply to an IPv6 address of NO_PROXY, with or without brackets and port", () => {
    for (const no_proxy of ["::1", "[::1]", "[::1]:80"])
      expect(proxyFor(new URL("http://[::1]/"), { http_proxy: "http://proxy.test:1", no_proxy })).toBeUndefined();
  });
});
