import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createProxy, type RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect, type LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, setGlobalDispatcher } from "undici";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { tlsCertificate } from "../../../adapters/http/servers/tls-certificate.js";
import { downloadFromWeb, type Web } from "../../../adapters/mcp/download-from-web.js";
import { publicLookup } from "../../../adapters/system/outgoing-http.js";
import { useProxy } from "../../../bootstrap/use-proxy.js";

const PUBLIC_HOST = "images.example";
const never = new AbortController().signal;

describe("downloadFromWeb", () => {
  let folder: string;
  let server: Server;
  let web: Web;
  let listener: RequestListener;
  let asked: string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-web-"));
    const files = await tlsCertificate(folder, PUBLIC_HOST, new Date());
    const [key, cert] = [await readFile(files.keyFile), await readFile(files.certificateFile)];
    server = createServer({ key, cert }, (request, response) => {
      asked.push(`${request.headers.host}${request.url}`);
      listener(request, response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const resolve =
      (address: string): LookupFunction =>
      (_, { all }, callback) => {
        if (all) callback(null, [{ address, family: 4 }]);
        else callback(null, address, 4);
      };
    // One host stands for a public one. All other names have a private address, as those of a local network.
    const lookup: LookupFunction = (host, options, callback) =>
      (host === PUBLIC_HOST ? resolve("127.0.0.1") : publicLookup(resolve("192.168.1.1")))(host, options, callback);
    web = { lookup, ca: cert, port };
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    asked = [];
    listener = (_, response) => response.end("image");
  });

  const download = (url: string, signal = never) => downloadFromWeb(url, { bytesMax: 1000, signal }, web);
  const reason = async (url: string, signal = never) => (await download(url, signal))._unsafeUnwrapErr();
  const url = `https://${PUBLIC_HOST}/a/harbour.jpg`;

  it("reads an image, also after redirects, and sends nothing but the request", async () => {
    listener = (request, response) => {
      expect(Object.keys(request.headers).sort()).toEqual([
        "accept",
        "accept-encoding",
        "connection",
        "host",
        "user-agent",
      ]);
      if (request.url === "/b") response.end("image");
      else response.writeHead(302, { location: "/b" }).end();
    };
    const image = (await download(url))._unsafeUnwrap();
    expect([Buffer.from(image.bytes).toString(), image.name]).toEqual(["image", "b"]);
  });

  it.each([
    "http://images.example/a.jpg",
    "file:///etc/passwd",
    "https://user:password@images.example/a.jpg",
    "https://127.0.0.1/a.jpg",
    "https://169.254.169.254/latest/meta-data",
    "https://localhost/a.jpg",
    "",
  ])("refuses %j, at first and as the target of a redirect, without a request to it", async (target) => {
    expect(await reason(target)).toMatch(/must be|must not have/);
    expect(asked).toEqual([]);
    if (target === "") return;
    listener = (_, response) => response.writeHead(307, { location: target }).end();
    expect(await reason(url)).toMatch(/must be|must not have/);
    expect(asked).toHaveLength(1);
  });

  it("ends after three redirects", async () => {
    listener = (request, response) => response.writeHead(302, { location: `${request.url}x` }).end();
    expect(await reason(url)).toBe("cannot be downloaded: it has more than 3 redirects.");
    expect(asked).toHaveLength(4);
  });

  it("stops reading an endless answer at the maximum, for any Content-Length", async () => {
    let sent = 0;
    listener = (_, response) => {
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) sent += 1;
        if (!response.destroyed) response.once("drain", write);
      };
      write();
    };
    expect(await reason(url)).toContain("must have at most");
    expect(sent).toBeLessThan(500);
  });

  it.each<[string, RequestListener]>([
    ["never answers", () => {}],
    ["stops in the middle", (_, response) => response.writeHead(200).write("half")],
  ])("ends with its signal if the host %s", async (_, silent) => {
    const stop = new AbortController();
    listener = (request, response) => {
      silent(request, response);
      setImmediate(() => stop.abort());
    };
    expect(await reason(url, stop.signal)).toBe("cannot be downloaded in time.");
  });

  it("reports an unexpected answer, or a closed connection", async () => {
    listener = (_, response) => response.writeHead(404).end();
    expect(await reason(url)).toBe("cannot be downloaded: its host answered 404.");
    listener = (request) => request.socket.destroy();
    expect(await reason(url)).toBe("cannot be downloaded: its host does not answer.");
  });

  describe("through a proxy", () => {
    let targets: string[];
    let isOpen: boolean;
    const proxy = createProxy().on("connect", ({ url: target = "" }, socket) => {
      targets.push(target);
      if (!isOpen) {
        socket.end("HTTP/1.1 403 No\r\n\r\n");
        return;
      }
      const upstream = connect((server.address() as AddressInfo).port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      for (const end of [socket, upstream]) end.on("error", () => upstream.destroy());
    });

    beforeEach(async () => {
      [targets, isOpen] = [[], true];
      if (!proxy.listening) await once(proxy.listen(0, "127.0.0.1"), "listening");
      vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
      vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
      await useProxy();
      return () => {
        vi.unstubAllEnvs();
        setGlobalDispatcher(new Agent());
        proxy.closeAllConnections();
      };
    });
    afterAll(() => proxy.close());

    /** Names that end in .elsewhere have no address here. */
    const lookup: LookupFunction = (host, options, callback) => {
      if (host.endsWith(".elsewhere")) callback(new Error("ENOTFOUND"), [], 4);
      else web.lookup(host, options, callback);
    };
    const downloaded = async (address: string) =>
      (await downloadFromWeb(address, { bytesMax: 1000, signal: never }, { ...web, lookup })).map(({ bytes }) =>
        String(bytes),
      );

    it("reads images of names that have a public address here, or none, also after a redirect", async () => {
      listener = (request, response) => {
        if (request.url === "/b") response.end("image");
        else response.writeHead(302, { location: "https://b.elsewhere/b" }).end("moved");
      };
      expect((await downloaded(url))._unsafeUnwrap()).toBe("image");
      expect(targets).toEqual([`${PUBLIC_HOST}:443`, "b.elsewhere:443"]);
    });

    it.each(["https://intranet.example/a.jpg", "https://10.0.0.1/a.jpg", "https://localhost/a.jpg", "https://[::1]/"])(
      "refuses %s, which is private here, at first and as the target of a redirect",
      async (target) => {
        expect((await downloaded(target))._unsafeUnwrapErr()).toMatch(/public/);
        expect(targets).toEqual([]);
        listener = (_, response) => response.writeHead(302, { location: target }).end();
        expect((await downloaded(url))._unsafeUnwrapErr()).toMatch(/public/);
        expect(targets).toHaveLength(1);
      },
    );

    it("names a proxy that refuses, and is not used for hosts of NO_PROXY", async () => {
      isOpen = false;
      const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      expect((await downloaded(url))._unsafeUnwrapErr()).toBe(
        `cannot be downloaded: the proxy ${host} does not let the request through and answers 403.`,
      );
      vi.stubEnv("NO_PROXY", PUBLIC_HOST);
      targets = [];
      expect((await download(url)).isOk()).toBe(true);
      expect(targets).toEqual([]);
    });
  });
});
