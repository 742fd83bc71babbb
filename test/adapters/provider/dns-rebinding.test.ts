import type { LookupAddress, LookupOptions } from "node:dns";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { tlsCertificate } from "../../../adapters/http/servers/tls-certificate.js";
import type { PublicFetch } from "../../../adapters/provider/public-fetch.js";
import { freePort } from "../../support/free-port.js";

/** On the loopback interface of Linux there are many addresses: this one stands for a public address. */
const PUBLIC = "127.0.0.2";
const PRIVATE = "127.0.0.1";
const NAME = "pictures.rebind.example";
const limits = { bytesMax: 1000, timeoutMilliseconds: 5_000 };

/** The addresses of the first answer, of the second one, and so on; the last list serves all later ones. */
const dns = vi.hoisted(() => ({ answers: [] as (readonly string[])[], queries: 0 }));

vi.mock("../../../domain/public-host.js", () => ({
  isPublicAddress: (address: string) => address === "127.0.0.2",
}));

/** A name server whose answers change from query to query, as one for DNS rebinding does. */
vi.mock("node:dns", async (importOriginal) => ({
  ...(await importOriginal<typeof import("node:dns")>()),
  lookup: (
    _name: string,
    { all }: LookupOptions,
    callback: (error: Error | null, found: string | LookupAddress[], family?: number) => void,
  ) => {
    const addresses = dns.answers[Math.min(dns.queries, dns.answers.length - 1)] ?? [];
    dns.queries += 1;
    const found = addresses.map((address) => ({ address, family: 4 }));
    setImmediate(() => (all === true ? callback(null, found) : callback(null, addresses[0] ?? "", 4)));
  },
}));

let folder: string;
let key: Buffer;
let cert: Buffer;
let Fetch: typeof PublicFetch;
beforeAll(async () => {
  vi.resetModules(); // other test files of this process have loaded them without the mocks
  ({ PublicFetch: Fetch } = await import("../../../adapters/provider/public-fetch.js"));
  folder = await mkdtemp(join(tmpdir(), "dns-rebinding-"));
  const files = await tlsCertificate(folder, NAME, new Date());
  key = await readFile(files.keyFile);
  cert = await readFile(files.certificateFile);
});
afterAll(async () => {
  vi.resetModules();
  await rm(folder, { recursive: true });
});

if (process.platform === "linux")
  describe("PublicFetch of a name whose DNS answer changes", () => {
    let fetcher: PublicFetch;
    const servers: Server[] = [];
    /** The addresses at which connections arrived. */
    let connectedTo: string[];

    beforeEach(() => {
      vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0"); // the certificate is no part of this
      fetcher = new Fetch();
      connectedTo = [];
    });
    afterEach(async () => {
      vi.unstubAllEnvs();
      await fetcher.close();
      for (const server of servers.splice(0)) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    });

    /** The same port at both addresses; resolves to it. */
    const listen = async (listener: RequestListener): Promise<number> => {
      let port = await freePort();
      for (const address of [PUBLIC, PRIVATE]) {
        const server = createServer({ key, cert }, listener).listen(port, address);
        servers.push(server);
        server.on("connection", () => connectedTo.push(address));
        await once(server, "listening");
        ({ port } = server.address() as AddressInfo);
      }
      return port;
    };
    const resolveTo = (...answers: readonly (readonly string[])[]): void => {
      Object.assign(dns, { answers, queries: 0 });
    };

    it("connects to the address that it has checked, asks once for each connection, and sends no key", async () => {
      const port = await listen(({ headers }, response) => response.end(headers.authorization ?? "picture"));
      resolveTo([PUBLIC], [PRIVATE]);
      const fetched = await fetcher.get(`https://${NAME}:${port}/a.png`, limits, { authorization: "Bearer key" });
      expect(Buffer.from(fetched._unsafeUnwrap().bytes).toString()).toBe("picture");
      expect([connectedTo, dns.queries]).toEqual([[PUBLIC], 1]);
    });

    it("checks a later connection again, also within the same fetch after a redirect", async () => {
      const port = await listen((request, response) => {
        if (request.url === "/a.png") response.writeHead(302, { location: "/b.png", connection: "close" }).end();
        else response.end("secret");
      });
      resolveTo([PUBLIC], [PRIVATE]);
      const fetched = await fetcher.get(`https://${NAME}:${port}/a.png`, limits);
      expect(fetched._unsafeUnwrapErr()).toEqual({
        kind: "forbidden",
        reason: `${NAME} is ${PRIVATE}, not a public address`,
        problem: "the host in its URL is unknown, or has no public address",
      });
      expect(connectedTo).toEqual([PUBLIC]);
    });

    it.each([
      ["the private one last", [PUBLIC, PRIVATE]],
      ["the private one first", [PRIVATE, PUBLIC]],
    ])("refuses an answer with a public and a private address, %s, without connecting", async (_, answer) => {
      const port = await listen((_request, response) => response.end("secret"));
      resolveTo(answer);
      const fetched = await fetcher.get(`https://${NAME}:${port}/a.png`, limits);
      expect(fetched._unsafeUnwrapErr().kind).toBe("forbidden");
      expect(connectedTo).toEqual([]);
    });

    it("does not try a later answer when the first address does not respond", async () => {
      const port = await listen((_, response) => response.end("secret"));
      resolveTo([PUBLIC], [PRIVATE]);
      const [atPublic] = servers.splice(0, 1);
      await new Promise((resolve) => atPublic?.close(resolve));
      const fetched = await fetcher.get(`https://${NAME}:${port}/a.png`, limits);
      expect(fetched._unsafeUnwrapErr().kind).toBe("unavailable");
      expect(connectedTo).toEqual([]);
    });
  });
