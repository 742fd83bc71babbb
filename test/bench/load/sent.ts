/** One request of a load; its generator sends several in order, again and again. */
export type Sent = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};
