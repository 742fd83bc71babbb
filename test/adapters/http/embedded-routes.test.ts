import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { createServer, request as httpRequest, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type RestRoutes, type RestRoutesOptions, restRoutes } from "../../../adapters/http/embedded-routes.js";
import type { ViewerUrl } from "../../../application/application-settings.js";
import { expectError } from "../../support/error-answer.js";
import { A_CREATION, assetsOf, type Customer, HttpService } from "../../support/http-service.js";
import { RawConnection } from "../../support/raw-connection.js";

type Description = {
  readonly components: { readonly schemas: { readonly PanoramaOutput: { required: string[]; properties: object } } };
};

const viewerOf: ViewerUrl = (slug) => `https://example.com/look/${slug}`;

/** A server of somebody else with routes of its own, which passes the other requests on. */
describe("restRoutes in a server of the embedder's own", () => {
  let service: HttpService;
  let customer: Customer;
  let routes: RestRoutes;
  let server: Server;
  let origin: string;
  let uploadsFolder: string;

  const mounted = async (options: Partial<RestRoutesOptions> = {}) => {
    const { application, observer, storage } = service;
    const { receivePaymentWebhook: _, ...credits } = application.credits;
    return restRoutes(
      { ...application, credits },
      {
        publicUrl: "https://example.com/panoramas",
        storage,
        uploadsFolder,
        observer,
        ...options,
      },
    );
  };
  const listening = async (listener: RequestListener): Promise<Server> => {
    const opened = createServer(listener).listen(0, "127.0.0.1");
    await once(opened, "listening");
    return opened;
  };
  const originOf = (of: Server): string => `http://127.0.0.1:${(of.address() as AddressInfo).port}`;

  beforeAll(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterAll(() => service.end());

  beforeEach(async () => {
    uploadsFolder = join(service.folder, "mounted-uploads");
    routes = await mounted({ basePath: "/panoramas", assets: assetsOf(service.storage) });
    server = await listening((request, response) =>
      routes.handle(request, response, () => {
        response.statusCode = request.url === "/hello" ? 200 : 404;
        response.end("the embedder's own answer");
      }),
    );
    server.on("clientError", routes.clientError);
    origin = originOf(server);
  });
  afterEach(async () => {
    server.close();
    await routes.stop(0);
    server.closeAllConnections();
    expect(service.failures.splice(0)).toEqual([]);
    expect(service.inFlight).toBe(0);
  });

  const call = (path: string, init: RequestInit = {}, key = customer.key): Promise<Response> =>
    fetch(`${origin}/panoramas/api/v1${path}`, { ...init, headers: { "x-api-key": key, ...init.headers } });
  const create = (body: unknown = A_CREATION) => call("/panoramas", { method: "POST", body: JSON.stringify(body) });

  it("creates and reads panoramas; links and locations begin with the base path", async () => {
    const created = await create();
    expect(created.status).toBe(202);
    expect(created.headers.get("ratelimit")).toMatch(/^"write";r=9;/);
    const { id } = (await created.json()) as { id: string };
    expect(created.headers.get("location")).toBe(`/panoramas/api/v1/panoramas/${id}`);
    expect(await (await call(`/panoramas/${id}`)).json()).toMatchObject({ id, status: "processing" });
    await service.settle();
    await service.keep();
    const done = (await (await call(`/panoramas/${id}`)).json()) as { output: Record<string, string> };
    expect(done).toMatchObject({ id, status: "succeeded" });
    expect(done.output.viewer_url).toBeUndefined();
    const [, name = ""] = /\/(panoramas\/[^/]+)$/.exec(done.output.image_url ?? "") ?? [];
    const asset = await fetch(`${origin}/panoramas/assets/${name}`, { headers: { range: "bytes=0-2" } });
    expect([asset.status, asset.headers.get("content-length")]).toEqual([206, "3"]);
  });

  it("serves webhook routes only for the given use cases", async () => {
    const hook = (path: string) => fetch(`${origin}/panoramas${path}`, { method: "POST", body: "{}" });
    expect(await (await hook("/hooks/replicate")).text()).toBe("No webhooks are accepted here.");
    expect(await (await hook("/payments/stripe")).text()).toBe("the embedder's own answer");
  });

  it("leaves every other request to the embedder", async () => {
    for (const [path, status, method = "GET"] of [
      ["/hello", 200],
      ["/panoramas/api/v1/credits", 404, "PUT"],
      ["/panoramas/api/v1/credits", 404, "OPTIONS"],
      ["/api/v1/credits", 404],
      ["/panoramas", 404],
      ["/panoramas/api/v1/unknown", 404],
      ["/panoramasapi/v1/credits", 404],
    ] as const) {
      const response = await fetch(origin + path, { method, headers: { "x-api-key": customer.key } });
      expect([path, response.status, await response.text()]).toEqual([path, status, "the embedder's own answer"]);
    }
  });

  it("answers requests without a route itself if it gets no `next`", async () => {
    const alone = await mounted();
    const own = await listening(alone.handle);
    await expectError(await fetch(`${originOf(own)}/hello`), 404, "not_found");
    const credits = await fetch(`${originOf(own)}/api/v1/credits`, { headers: { "x-api-key": customer.key } });
    expect(await credits.json()).toMatchObject({ remaining_credits: expect.any(Number) });
    own.close();
    await alone.stop(1_000);
  });

  it("closes only the connections of unanswered requests at the deadline of its stop", async () => {
    const own = await RawConnection.open((server.address() as AddressInfo).port);
    own.send("GET /hello HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(await own.response()).toMatch(/^HTTP\/1\.1 200 /);
    const stuck = await RawConnection.open((server.address() as AddressInfo).port);
    const headers = `host: x\r\nx-api-key: ${customer.key}\r\ncontent-length: 100`;
    stuck.send(`POST /panoramas/api/v1/panoramas HTTP/1.1\r\n${headers}\r\n\r\n{`);
    await expect.poll(() => service.inFlight).toBe(1);
    await routes.stop(1);
    expect(await stuck.response()).toBe("");
    own.send("GET /hello HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(await own.response()).toMatch(/^HTTP\/1\.1 200 /);
    own.close();
  });

  it("answers over a Unix socket, whose connections have no address", async () => {
    const socketPath = join(service.folder, "http.sock");
    const own = createServer(routes.handle).listen(socketPath);
    await once(own, "listening");
    const sent = httpRequest({ socketPath, path: "/panoramas/api/v1/credits", headers: { "x-api-key": customer.key } });
    const [response] = await once(sent.end(), "response");
    expect(await json(response)).toMatchObject({ remaining_credits: expect.any(Number) });
    own.close();
    own.closeAllConnections();
  });

  it("does nothing for a client that has left before the embedder passes its request on", async () => {
    const requests = service.finished.length;
    let passed = () => {};
    const isPassed = new Promise<void>((resolve) => {
      passed = resolve;
    });
    const slow = await listening((request, response) => {
      request.socket.once("close", () => {
        routes.handle(request, response);
        passed();
      });
      connection.close();
    });
    const connection = await RawConnection.open((slow.address() as AddressInfo).port);
    connection.send(`GET /panoramas/api/v1/credits HTTP/1.1\r\nhost: x\r\nx-api-key: ${customer.key}\r\n\r\n`);
    await isPassed;
    expect(service.finished.length).toBe(requests);
    slow.close();
  });

  it("trusts X-Forwarded-For of a proxy on this machine, unless other proxies are named", async () => {
    const own = await mounted({ trustedProxies: ["192.0.2.0/24"] });
    for (const [of, network] of [
      [routes, "203.0.113.66"],
      [own, "127.0.0.1"],
    ] as const) {
      const proxied = await listening((request, response) => of.handle(request, response));
      const base = of === routes ? "/panoramas" : "";
      await fetch(`${originOf(proxied)}${base}/api/v1/credits`, { headers: { "x-forwarded-for": "203.0.113.66" } });
      expect(service.finished.at(-1)?.network).toBe(network);
      proxied.close();
    }
    await own.stop(0);
  });

  it("refuses an invalid proxy address", async () => {
    await expect(mounted({ trustedProxies: ["10.0.0.0/8", "proxy"] })).rejects.toThrow(
      'trustedProxies must be addresses and networks, and is ["10.0.0.0/8","proxy"].',
    );
  });

  it("throws if something has read the body before", async () => {
    const thrown = vi.fn();
    const reading = await listening((request, response) => {
      request.resume().once("end", () => {
        try {
          routes.handle(request, response);
        } catch (error) {
          thrown(error);
          response.end();
        }
      });
    });
    await fetch(`${originOf(reading)}/panoramas/api/v1/panoramas`, { method: "POST", body: "{}" });
    expect(String(thrown.mock.lastCall?.[0])).toMatch(/^Error: The body of this request has been read already\./);
    reading.close();
  });

  it("shows the embedder's viewer URL in tasks and in the OpenAPI description", async () => {
    const another = await service.customer();
    const id = await service.created(another);
    await service.settle();
    const viewers = { none: service.application, own: { ...service.application, viewerUrl: viewerOf } };
    for (const [viewer, application] of Object.entries(viewers)) {
      const own = await restRoutes(application, { publicUrl: "https://example.com", storage: service.storage });
      const listener = await listening((request, response) => own.handle(request, response));
      const get = async <Body>(path: string) => {
        const answer = await fetch(`${originOf(listener)}/api/v1${path}`, { headers: { "x-api-key": another.key } });
        return (await answer.json()) as Body;
      };
      const { required, properties } = (await get<Description>("/openapi.json")).components.schemas.PanoramaOutput;
      expect([required.includes("viewer_url"), "viewer_url" in properties]).toEqual(Array(2).fill(viewer === "own"));
      const { output } = await get<{ output: { slug: string; viewer_url?: string } }>(`/panoramas/${id}`);
      expect(output.viewer_url).toBe(viewer === "own" ? `https://example.com/look/${output.slug}` : undefined);
      listener.close();
      await own.stop(0);
    }
  });

  it("stores uploads in the folder for temporary files, and deletes each after its answer", async () => {
    const temporary = join(service.folder, "tmp");
    await mkdir(temporary);
    vi.stubEnv("TMPDIR", temporary);
    const own = await mounted({ uploadsFolder: undefined });
    vi.unstubAllEnvs();
    const other = await listening(own.handle);
    const url = `${originOf(other)}/api/v1/images`;
    const headers = { "x-api-key": customer.key };
    const form = new FormData();
    form.append("files", new Blob([new Uint8Array([0xff, 0xd8, 0xff])], { type: "image/jpeg" }), "a.jpg");
    expect((await fetch(url, { method: "POST", headers, body: form })).status).toBe(200);
    expect(await readdir(temporary)).toEqual([]);
    const type = { "content-type": "multipart/form-data; boundary=b" };
    const sent = httpRequest(url, { method: "POST", headers: { ...headers, ...type } });
    sent.write('--b\r\ncontent-disposition: form-data; name="files"; filename="a.png"\r\n\r\nhalf of it');
    await expect.poll(() => readdir(temporary)).toEqual([expect.stringMatching(/^panorama-upload-/)]);
    sent.on("error", () => {}).destroy();
    await expect.poll(() => readdir(temporary)).toEqual([]);
    other.close();
    await own.stop(0);
  });

  it.each(["panoramas", "/panoramas/", "/:id", "/a?b"])("refuses %j as the base path", async (basePath) => {
    await expect(mounted({ basePath })).rejects.toThrow(
      `basePath must be empty or as in "/panoramas", and is ${JSON.stringify(basePath)}.`,
    );
  });
});
