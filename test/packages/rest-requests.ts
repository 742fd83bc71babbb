import { once } from "node:events";
import { type OutgoingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";
import { pngBytes } from "../support/image-bytes.js";

const CREATION = JSON.stringify({ prompt: "a quiet lake", resolution: "1k" });
const upload = (): Buffer => {
  const head =
    '--b\r\ncontent-disposition: form-data; name="files"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n';
  return Buffer.concat([Buffer.from(head), pngBytes(300_000), Buffer.from("\r\n--b--\r\n")]);
};

/**
 * Sends the same requests to a server of the REST interface, and returns its answers, without what differs in each run:
 * ids, slugs and times.
 */
export const restAnswers = async (port: number): Promise<readonly string[]> => {
  const send = async (method: string, path: string, headers: OutgoingHttpHeaders = {}, body?: string | Buffer) => {
    const sent = request({ port, host: "127.0.0.1", method, path, headers: { "x-api-key": key, ...headers } });
    sent.end(body);
    const [response] = await once(sent, "response");
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  };
  let key = "";
  key = (await send("GET", "/key")).body;
  const answers: string[] = [];
  const call = async (...args: Parameters<typeof send>) => {
    const { status, headers, body } = await send(...args);
    const { location, "content-type": type, ratelimit, "idempotent-replayed": replayed } = headers;
    const said = JSON.stringify({ request: args.slice(0, 2), status, type, ratelimit, replayed, location, body });
    answers.push(
      said.replaceAll(ID, "ID").replaceAll(RANDOM_NAME, "NAME").replaceAll(REQUEST_ID, "ID").replaceAll(SLUG, "SLUG"),
    );
    return body;
  };

  await call("GET", "/api/v1/credits");
  await call("GET", "/api/v1/credits", { "x-api-key": ["wrong", key] }); // twice: the last value counts
  await call("GET", "/api/v1/credits", { "x-api-key": [key, "wrong"] });
  await call("GET", "/api/v1/credits", { "x-api-key": [], authorization: `Bearer ${key}` });
  await call("GET", "/api/v1/unknown");
  await call("GET", "/api/v1/abilities");
  await call("POST", "/api/v1/panoramas", {}, "{");
  await call("POST", "/api/v1/panoramas", {}, JSON.stringify({ prompt: "x", resolution: "1k" }));
  const multipart = { "content-type": "multipart/form-data; boundary=b" };
  await call("POST", "/api/v1/images", multipart, upload());
  await call("POST", "/api/v1/images", { ...multipart, "transfer-encoding": "chunked" }, upload());
  const created = await call("POST", "/api/v1/panoramas", { "idempotency-key": ["one", "two"] }, CREATION);
  await call("POST", "/api/v1/panoramas", { "idempotency-key": "two" }, CREATION);
  const { id } = JSON.parse(created) as { id: string };
  await call("GET", `/api/v1/panoramas/${id}`);
  await send("POST", "/finish");
  await call("GET", `/api/v1/panoramas/${id}`, { prefer: "wait=5" });
  await call("GET", `/api/v1/panoramas/${id}/events`);
  await call("HEAD", `/api/v1/panoramas/${id}`);
  await call("GET", "/api/v1/panoramas?limit=1");
  await call("GET", "/api/v1/credits/entries");
  await call("DELETE", `/api/v1/panoramas/${id}`);
  await call("GET", `/api/v1/panoramas/${id}`);
  return answers;
};

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const RANDOM_NAME = /(?<=(references|panoramas)\/)[\w-]{12,}/g;
const SLUG = /(?<=\\?"slug\\?":\\?")\w{16}/g;
const REQUEST_ID = /(?<=request )[\w-]+/g;
