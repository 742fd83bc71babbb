import { localTimes } from "./local-times.js";

/** The page /provenance: computes the SHA-256 of a file, and opens the page with the answer. */
const drop = document.getElementById("drop");
const input = document.getElementById("file") as HTMLInputElement | null;
const answer = document.getElementById("answer");

const check = async (file: File): Promise<void> => {
  if (answer !== null) answer.textContent = answer.dataset.wordsReading ?? "";
  try {
    const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
    const sha256 = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    location.assign(`/provenance?sha256=${sha256}`);
  } catch {
    if (answer !== null) answer.textContent = answer.dataset.wordsUnreadable ?? "";
  }
};

localTimes(document);

// Browsers offer digests only on pages with https, and on this machine.
if (drop !== null && input !== null && crypto.subtle !== undefined) {
  drop.hidden = false;
  const first = (files: FileList | null | undefined): void => {
    const file = files?.[0];
    if (file !== undefined) void check(file);
  };
  input.addEventListener("change", () => first(input.files));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    first(event.dataTransfer?.files);
  });
}
