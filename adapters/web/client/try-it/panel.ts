import { balanceSentence } from "./balance.js";
import { type Call, callOf } from "./description.js";
import { type Answer, answerPlace, type Request, requestText, textBlock } from "./exchange.js";
import { type Field, fieldsOf } from "./fields.js";
import { acceptedCreations, newIdempotencyKey } from "./idempotency.js";
import { make } from "./make.js";
import { requestOf } from "./request-of.js";
import { taskSteps } from "./task-steps.js";
import { uploadField } from "./upload-field.js";

/** Shown first, with those that are required. */
const FIRST_FIELDS = ["prompt", "resolution", "image_urls"];

/** What the panels of the page share: in this page only, and nowhere else. */
export type Shared = {
  /** The field of the page in which the reader has put a key. */
  readonly keyField: HTMLInputElement;
  /** The task that was created last. */
  lastId: string;
};

/** The form of an operation, its request as it will be sent with its cost, and the answer. */
export const makePanel = (call: Call, shared: Shared): HTMLFormElement => {
  const { operation, method, description } = call;
  const { summary } = operation;
  const { prices } = description["x-panorama"];
  const fields = fieldsOf(call);
  const controlOf = (wanted: string) => fields.find(({ name }) => name === wanted)?.control;
  const [resolution, maxCredits] = [controlOf("resolution"), controlOf("max_credits")];
  const [idempotencyKey, imageUrls] = [controlOf("Idempotency-Key"), controlOf("image_urls")];
  const isPublic = operation.security?.length === 0;
  const accepted = acceptedCreations();

  const form = make("form", { className: "try", ariaLabel: `Try it: ${summary}` });
  const keyField = make("input", { autocomplete: "off", spellcheck: false, placeholder: "sk-…" });
  const sendButton = make("button", { className: method === "DELETE" ? "button danger" : "button" });
  const stopButton = make("button", { type: "button", className: "button quiet", textContent: "Stop", hidden: true });
  const balance = make("p", { className: "hint", role: "status" });
  const request = textBlock(`Request: ${summary}`);
  const answer = answerPlace(`Answer: ${summary}`);

  const key = (): string => (isPublic ? "" : keyField.value.trim());
  let price: number | undefined;
  let sending: AbortController | undefined;

  /** What the account pays for this request, compared with those before. */
  const compare = (now: Request) => accepted.compare(idempotencyKey?.value ?? "", JSON.stringify([key(), now.body]));
  const cost = (now: Request): number => (compare(now) === "same" ? 0 : (price ?? 0));

  /** Shows the request as it would be sent now, and what it would cost. */
  const refresh = (): void => {
    const before = price;
    price = prices[resolution?.value ?? ""];
    // The prices of this page may be old: the service takes no more than what was shown.
    if (maxCredits !== undefined && maxCredits.value === String(before ?? "")) maxCredits.value = String(price);
    if (idempotencyKey !== undefined && compare(requestOf(call, fields)) === "other") {
      idempotencyKey.value = newIdempotencyKey();
    }
    const now = requestOf(call, fields);
    request.show(requestText(now, key()));
    const words = cost(now) === 0 ? "nothing" : `${cost(now)} credits`;
    sendButton.textContent =
      compare(now) === "same" ? "Send again: the same key costs nothing" : `Send: costs ${words}`;
  };

  const showBalance = async (): Promise<void> => {
    if (resolution === undefined) return;
    const of = key();
    const sentence = await balanceSentence(callOf(description, "readCredits").path, of, cost(requestOf(call, fields)));
    if (key() === of) balance.textContent = sentence;
  };

  const exchange = async (sent: Request, place: ReturnType<typeof answerPlace>): Promise<Answer | undefined> => {
    if (sending !== undefined) return undefined;
    sending = new AbortController();
    stopButton.hidden = sent.method !== "GET";
    const told = await place.exchange(sent, key(), sending.signal);
    sending = undefined;
    stopButton.hidden = true;
    return told;
  };

  const steps = taskSteps({ summary, taskPath: callOf(description, "readPanorama").path, key, exchange });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const shown = sendButton.textContent;
    refresh();
    if (sendButton.textContent !== shown) return; // the reader has not seen this cost
    const now = requestOf(call, fields);
    const creation = JSON.stringify([key(), now.body]);
    const usedKey = idempotencyKey?.value ?? "";
    const told = await exchange(now, answer);
    if (told === undefined) return;
    if (resolution !== undefined && told.status < 300) {
      accepted.add(usedKey, creation);
      shareId(String(told.json.id), shared);
    }
    refresh();
    steps.begin(told);
    if (method !== "GET") await showBalance();
  });
  stopButton.addEventListener("click", () => sending?.abort());
  form.addEventListener("input", refresh);

  const takeKey = (): void => {
    if (keyField.value !== shared.keyField.value) keyField.value = shared.keyField.value;
    refresh();
  };
  keyField.addEventListener("input", () => {
    shared.keyField.value = keyField.value;
    shared.keyField.dispatchEvent(new Event("input"));
  });
  shared.keyField.addEventListener("input", takeKey);
  for (const field of [shared.keyField, keyField, resolution]) field?.addEventListener("change", showBalance);

  const isFirst = ({ name, isRequired }: Field): boolean => isRequired || FIRST_FIELDS.includes(name);
  const others = fields.filter((field) => !isFirst(field)).map(labelled);
  form.append(
    ...(isPublic ? [] : [make("label", {}, "API key, kept in this page only", keyField)]),
    ...fields.filter(isFirst).map(labelled),
    ...(imageUrls === undefined
      ? []
      : [
          uploadField(callOf(description, "uploadImages").path, key, (urls) => {
            imageUrls.value = [imageUrls.value.trim(), ...urls].filter((url) => url !== "").join("\n");
            refresh();
          }),
        ]),
    ...(others.length === 0 ? [] : [make("details", {}, make("summary", {}, "More fields"), ...others)]),
    request.element,
    ...(resolution === undefined ? [] : [balance]),
    make("p", { className: "inline" }, sendButton, stopButton),
    ...answer.elements,
    steps.element,
  );

  if (idempotencyKey !== undefined) idempotencyKey.value = newIdempotencyKey();
  const ofTask = controlOf("id");
  if (ofTask !== undefined) ofTask.value = shared.lastId;
  takeKey();
  void showBalance();
  return form;
};

const labelled = ({ name, isRequired, control }: Field): HTMLElement =>
  make("label", {}, make("span", {}, name, ...(isRequired ? [REQUIRED()] : [])), control);
const REQUIRED = () => make("span", { className: "required" }, " required");

/** The forms that ask for the id of a task get this one, unless the reader has put another one there. */
const shareId = (id: string, shared: Shared): void => {
  for (const field of document.querySelectorAll<HTMLInputElement>('.try input[name="id"]')) {
    if (field.value !== shared.lastId) continue;
    field.value = id;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  shared.lastId = id;
};
