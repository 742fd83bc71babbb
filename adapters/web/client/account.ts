import { checkInBrowser, localTimes } from "./page.js";

localTimes(document);

const copy = document.getElementById("copy");
if (copy !== null && isSecureContext) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById("secret")?.textContent ?? "");
    copy.textContent = copy.dataset.words ?? "";
  });
}

const form = document.getElementById("new-key-form");
if (form instanceof HTMLFormElement) checkInBrowser(form);
