import { takePrompt } from "./kept-prompt.js";
import { checkInBrowser, element, readPage } from "./page.js";
import { pictureList } from "./picture-list.js";

/** The form with its cost and counter. It is sent without leaving the page, so that a refusal loses nothing. */
export const startCreationForm = (): void => {
  const form = element("create") as HTMLFormElement;
  const prompt = element("prompt") as HTMLTextAreaElement;
  const make = element("make") as HTMLButtonElement;
  checkInBrowser(form);
  if (form.querySelector("#files") !== null) pictureList(form);

  const showCost = (): void => {
    const chosen = form.querySelector<HTMLInputElement>("input[name=resolution]:checked");
    const cost = Number(chosen?.dataset.cost);
    element("cost").textContent = ` · ${cost} credits`;
    element("cost").hidden = false;
    element("short").hidden = Number(form.dataset.balance) >= cost;
    element("short").firstChild?.replaceWith(
      `You have ${Number(form.dataset.balance).toLocaleString("en-GB")} credits, too few for this. `,
    );
  };
  form.addEventListener("change", showCost);
  showCost();

  const kept = takePrompt();
  if (prompt.value === "") prompt.value = kept;

  const charactersMax = Number(prompt.dataset.max);
  const showCount = (): void => {
    const characters = [...prompt.value.trim()].length; // as the service counts them
    const count = element("count");
    count.textContent = `${characters.toLocaleString("en-GB")} / ${charactersMax.toLocaleString("en-GB")}`;
    count.classList.toggle("over", characters > charactersMax);
    prompt.setCustomValidity(
      characters > charactersMax ? `Use at most ${charactersMax.toLocaleString("en-GB")} characters.` : "",
    );
  };
  prompt.addEventListener("input", showCount);
  showCount();

  const keys = element("keys");
  if (/Mac|iP/.test(navigator.platform)) keys.textContent = "⌘ + Enter";
  keys.hidden = !matchMedia("(any-pointer: fine)").matches; // a phone has neither key
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!make.disabled) send(form, make);
  });
};

const send = (form: HTMLFormElement, make: HTMLButtonElement): void => {
  const progress = element("progress") as HTMLProgressElement;
  const body = new FormData(form);
  const files = body.getAll("files").filter((file) => file instanceof File && file.size > 0);
  body.delete("files");
  for (const file of files) body.append("files", file); // last: the fields are checked before files are received
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    progress.value = total > 0 ? (loaded / total) * 100 : 0;
  });
  const end = (error: string): void => {
    make.disabled = false;
    progress.hidden = true;
    show(error);
  };
  request.addEventListener("error", () => end("The service doesn’t answer. Check your connection and send again."));
  request.addEventListener("load", () => {
    const url = new URL(request.responseURL);
    const page = readPage(request.responseText);
    if (url.pathname === "/login" && (files.length > 0 || !url.search.includes("prompt"))) {
      // The login page could not bring back the chosen files.
      return end("You were logged out. Log in in another tab, then send again.");
    }
    if (request.status < 300) {
      // After the way back to this page, the form is a new one.
      setField(form, "idempotency_key", newKey());
      return location.assign(request.responseURL);
    }
    for (const name of ["form_token", "idempotency_key"]) {
      const fresh = page.querySelector<HTMLInputElement>(`#create input[name="${name}"]`);
      if (fresh !== null) setField(form, name, fresh.value);
    }
    end(
      page.querySelector(".studio > [role=alert], .message p")?.textContent ?? "This didn’t work. Please send again.",
    );
  });
  make.disabled = true;
  progress.value = 0;
  progress.hidden = files.length === 0;
  show("");
  request.send(body);
};

const show = (error: string): void => {
  for (const old of document.querySelectorAll(".studio > [role=alert]")) old.remove(); // of the page as it was loaded
  const box = element("form-error");
  box.textContent = error;
  box.hidden = error === "";
  if (error !== "") box.scrollIntoView({ block: "nearest" });
};

/** The token of the session is in every form of the page. */
const setField = (form: HTMLFormElement, name: string, value: string): void => {
  const fields = name === "form_token" ? document.getElementsByName(name) : form.getElementsByTagName("input");
  for (const field of fields) if (field instanceof HTMLInputElement && field.name === name) field.value = value;
};

const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
