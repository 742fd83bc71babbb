import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** `data`: of an image, in base64. */
type Part = { readonly type: string; readonly text?: string; readonly data?: string };

export type ModerationCall = {
  readonly headers: IncomingMessage["headers"];
  readonly path: string;
  readonly body: { readonly model?: string; readonly input: Part | readonly Part[] };
};

/** What the server does with a call instead of answering by its text. */
export type Behaviour = (response: ServerResponse, part: Part) => void;

/**
 * A moderation on a port of its own, in OpenAI's form at `/v1/moderations`, and in ours elsewhere (README.md of
 * adapters/moderation). It blocks what contains "blocked", and wants to review what contains "doubtful".
 */
export const fakeModeration = async () => {
  const calls: ModerationCall[] = [];
  const state: { behaviour?: Behaviour | undefined; images: "allow" | "review" | "block" } = { images: "allow" };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request)) as ModerationCall["body"];
    calls.push({ headers: request.headers, path: request.url ?? "", body });
    const [part = { type: "none" }] = [body.input].flat();
    if (state.behaviour !== undefined) return state.behaviour(response, part);
    const byText = /blocked/.test(part.text ?? "") ? "block" : /doubtful/.test(part.text ?? "") ? "review" : "allow";
    const answer = part.type === "text" ? byText : state.images;
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(request.url === "/v1/moderations" ? { results: [{ flagged: answer === "block" }] } : { answer }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    calls,
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
};
