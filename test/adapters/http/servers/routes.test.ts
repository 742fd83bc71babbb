import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Overload } from "../../../../adapters/http/limits/overload.js";
import { json, NO_CONTENT } from "../../../../adapters/http/replies/reply.js";
import { Senders } from "../../../../adapters/http/requests/senders.js";
import { Router } from "../../../../adapters/http/router.js";
import { makeServer } from "../../../support/make-server.js";
import { RawConnection } from "../../../support/raw-connection.js";

const ROUTES = ["/a/:id", "/a/fixed", "/a/:id/last", "/a/fixed/:name", "/:one/:two/last"];

/** What routes see of a request: the same on both HTTP servers. */
describe("the HTTP server", () => {
  const listener = new Router(
    { run: (_id, work) => void work(), finished: () => {}, failed: () => {}, overloaded: () => {} },
    makeServer(),
    new Overload(() => false, new Senders([])),
  );

  beforeAll(async () => {
    for (const path of ROUTES) {
      const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
      listener.route("get", path, (exchange) => json(200, [path, ...names.map((name) => exchange.parameter(name))]));
    }
    listener.route("get", "/request", ({ url, query, headers, method }) =>
      json(200, { url, query: [...query], headers, method }),
    );
    listener.route("get", "/header", () => ({
      status: 200,
      headers: { "x-text": "line\r\nx-injected: 1\t\x01é→\x7f" },
      body: "x",
    }));
    listener.route("post", "/a/:id", () => json(201, "posted"));
    listener.route("get", "/kept", () => ({ ...json(304, "kept"), headers: { etag: '"1"' } }));
    listener.route("get", "/kept-without-length", () => ({ status: 304, headers: {}, body: undefined }));
    listener.route("get", "/moved", () => ({ status: 308, headers: { location: "/a/1" }, body: undefined }));
    listener.route("delete", "/a/:id", () => NO_CONTENT);
    await listener.source.listen("127.0.0.1", 0);
  });
  afterAll(() => listener.stop(0));

  const ask = async (method: string, target: string, ...headers: string[]) => {
    const connection = await RawConnection.open(listener.source.port);
    connection.send([`${method} ${target} HTTP/1.1`, "host: x", ...headers, "", ""].join("\r\n"));
    const answer = await connection.response();
    connection.close();
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    return { status: Number(head.split(" ")[1]), head, body };
  };

  it.each([
    ["/a/1", ["/a/:id", "1"]],
    ["/a/1?b=/c", ["/a/:id", "1"]],
    ["/a/fixed", ["/a/fixed"]],
    ["/a/fixed/1", ["/a/fixed/:name", "1"]],
    ["/a/1/last", ["/a/:id/last", "1"]],
    ["/a/fixed/last", ["/a/fixed/:name", "last"]],
    ["/b/1/last", ["/:one/:two/last", "b", "1"]],
    ["/a/%2F%20+%e9", ["/a/:id", "%2F%20+%e9"]],
  ])("gives %s to the route %j, and decodes no parameter", async (path, route) => {
    const { status, body } = await ask("GET", path);
    expect([status, JSON.parse(body)]).toEqual([200, route]);
  });

  it.each(["/a", "/a/", "/a//last", "/a/1/", "//a/1", "/A/1", "/a/1/other", "/", "/a%2F1"])(
    "answers 404 to %s",
    async (path) => {
      const { status, body } = await ask("GET", path);
      expect([status, JSON.parse(body).error.code]).toEqual([404, "not_found"]);
    },
  );

  it("distinguishes methods, and answers HEAD like GET without a body", async () => {
    expect(await ask("POST", "/a/1")).toMatchObject({ status: 201, body: '"posted"' });
    for (const method of ["PUT", "PATCH", "OPTIONS"]) expect((await ask(method, "/a/1")).status).toBe(404);
    const url = `http://127.0.0.1:${listener.source.port}`;
    const head = await fetch(`${url}/a/1`, { method: "HEAD" });
    const length = (await ask("GET", "/a/1")).body.length;
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, String(length), ""]);
    expect((await fetch(`${url}/none`, { method: "HEAD" })).status).toBe(404);
  });

  it.each([
    ["HEAD", "/a/1", 200, "14"],
    ["HEAD", "/none", 404, expect.stringMatching(/^\d{3}$/)],
    ["HEAD", "/moved", 308, undefined],
    ["GET", "/kept", 304, "6"],
    ["GET", "/kept-without-length", 304, undefined],
    ["DELETE", "/a/1", 204, undefined],
  ])("keeps the connection after an answer without a body: to %s %s", async (method, target, status, length) => {
    const connection = await RawConnection.open(listener.source.port);
    const send = (line: string) => connection.send(`${line} HTTP/1.1\r\nhost: x\r\n\r\n`);
    for (let n = 0; n < 2; n += 1) {
      send(`${method} ${target}`);
      const answer = await connection.response(false);
      const declared = /^content-length: (\d+)/im.exec(answer)?.[1];
      expect([answer.split(" ")[1], declared, answer.endsWith("\r\n\r\n")]).toEqual([String(status), length, true]);
    }
    send("GET /a/1");
    expect(await connection.response()).toContain('["/a/:id","1"]');
    connection.close();
  });

  it("gives URL and query as sent, names of headers in lower case, and the last value of a repeated header", async () => {
    const headers = ["X-Single:   one  ", "x-twice: 1", "X-Twice: 2", "cookie: a=1", "cookie: b=2", "host: y"];
    const { body } = await ask("GET", "/request?a=%20b&a=c?d", ...headers);
    expect(JSON.parse(body)).toMatchObject({
      url: "/request?a=%20b&a=c?d",
      query: [
        ["a", " b"],
        ["a", "c?d"],
      ],
      method: "GET",
    });
    const seen = (JSON.parse(body) as { headers: Record<string, string> }).headers;
    expect(seen).toMatchObject({ host: "y", "x-single": "one", "x-twice": "2", cookie: "b=2" });
  });

  it("sends no control characters in headers, and other characters as UTF-8", async () => {
    const { head } = await ask("GET", "/header");
    const line = /^x-text: (.*)$/im.exec(Buffer.from(head, "latin1").toString())?.[1];
    expect(line?.trimEnd()).toBe("line  x-injected: 1\t é→");
    expect(head).not.toMatch(/^x-injected/im);
  });
});
