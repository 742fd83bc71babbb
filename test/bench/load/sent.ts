/** One request of a load; its generator sends several in order, again and again. */
export type Sent = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** The bytes of the request, with the length of its body. */
export const formatted = ({ method, path, headers, body = "" }: Sent): Buffer => {
  const lines = Object.entries({ host: "localhost", ...headers, ...(body && { "content-length": body.length }) });
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
  );
};
