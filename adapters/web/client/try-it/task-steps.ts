import { type Answer, answerPlace, type Request, requestText, textBlock } from "./exchange.js";
import { make } from "./make.js";

type Parts = {
  readonly summary: string;
  /** The path of a task, with `{id}`. */
  readonly taskPath: string;
  readonly key: () => string;
  /** Sends the request and shows its answer there. `undefined`: there was none, or another one is not answered yet. */
  readonly exchange: (request: Request, place: ReturnType<typeof answerPlace>) => Promise<Answer | undefined>;
};

/** What follows from an answer with a task: links to its picture, and to ask for it again as often as one wants. */
export const taskSteps = ({ summary, taskPath, key, exchange }: Parts) => {
  const element = make("div");
  const poll = make("button", { type: "button", className: "button", textContent: "Poll: wait for the panorama" });
  const shownRequest = textBlock(`Request of the poll: ${summary}`);
  const place = answerPlace(`Answer to the poll: ${summary}`);
  let id = "";
  const request = (): Request => ({
    method: "GET",
    path: taskPath.replace("{id}", id),
    headers: [["Prefer", "wait=30"]],
    body: undefined,
  });

  const show = ({ json }: Answer): void => {
    const { status, output } = json as { readonly status?: string; readonly output?: Readonly<Record<string, string>> };
    const links = [
      ["Open the picture", output?.image_url],
      ["Open the sphere", output?.viewer_url],
    ].flatMap(([textContent = "", href]) =>
      href === undefined ? [] : [make("a", { className: "button quiet", href, target: "_blank", textContent })],
    );
    const isUnfinished = status === "processing" || output?.storage_status === "uploading";
    shownRequest.show(requestText(request(), key()));
    element.replaceChildren(
      ...(isUnfinished ? [shownRequest.element, poll] : []),
      ...place.elements,
      ...(links.length === 0 ? [] : [make("p", { className: "inline" }, ...links)]),
    );
  };

  poll.addEventListener("click", async () => {
    const answer = await exchange(request(), place);
    if (answer === undefined || answer.status >= 300) return;
    const hadFocus = document.activeElement === poll;
    show(answer);
    if (hadFocus) element.querySelector<HTMLElement>("button, a")?.focus();
  });

  return {
    element,
    /** Of another answer: a task, or nothing of that kind. */
    begin: (answer: Answer): void => {
      id = String(answer.json.id ?? "");
      place.clear();
      if (id === "") element.replaceChildren();
      else show(answer);
    },
  };
};
