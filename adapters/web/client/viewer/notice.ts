/**
 * The button that asks for a notification. Shown where a page can show one: browsers of phones need a service worker.
 * Returns what to call at the end: it notifies a reader who has asked for it and looks at something else.
 */
export const offerNotice = (): ((sentence: string) => void) => {
  const button = document.getElementById("notify");
  if (button === null || !("Notification" in window) || !isSecureContext || matchMedia("(pointer: coarse)").matches)
    return () => {};
  button.hidden = false;
  let isAsked = false;
  button.addEventListener("click", async () => {
    isAsked = (await Notification.requestPermission()) === "granted";
    button.textContent = isAsked ? "You will be told" : "Your browser allows no notifications here";
    button.setAttribute("aria-disabled", "true");
  });
  return (sentence) => {
    if (!isAsked || document.visibilityState === "visible") return;
    const notification = new Notification(document.title, { body: sentence });
    notification.addEventListener("click", () => {
      window.focus();
      notification.close();
    });
  };
};
