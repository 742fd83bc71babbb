import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Agent, EnvHttpProxyAgent, setGlobalDispatcher } from "undici";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { downloadImage } from "../../adapters/client/download-image.js";
import { PanoramaClient } from "../../adapters/client/panorama-client.js";
import { useProxy } from "../../bootstrap/use-proxy.js";
import { FakeService } from "../support/fake-service.js";
import { pngBytes } from "../support/image-bytes.js";

describe("the proxy of the environment", () => {
  let service: FakeService;
  /** What the proxy was asked to connect to. Only the service exists behind it. */
  let targets: string[];
  const proxy = createServer().on("connect", ({ url = "" }, socket, head) => {
    targets.push(url);
    const { hostname, port } = new URL(`http://${url}`);
    if (hostname !== "127.0.0.1") {
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
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
    expect(new Set(targets)).toEqual(new Set([host(), "pictures.invalid:443"]));

    vi.stubEnv("NO_PROXY", "127.0.0.1");
    await useProxy();
    targets = [];
    expect(await client.credits()).toEqual({ remaining_credits: 100 });
    expect(targets).toEqual([]);
  });
});
