const copy = document.getElementById("copy");
if (copy !== null) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById("secret")?.textContent ?? "");
    copy.textContent = "Copied";
  });
}
