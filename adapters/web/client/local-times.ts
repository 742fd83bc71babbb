/** Shows the times of the page in the zone of the reader, and that of the service when one points at them. */
export const localTimes = (page: Document): void => {
  for (const time of page.querySelectorAll("time")) {
    const written = time.textContent ?? "";
    const date = { day: "numeric", month: "short", year: "numeric" } as const;
    const clock = { hour: "2-digit", minute: "2-digit", timeZoneName: "short" } as const;
    const hasClock = written.endsWith("UTC");
    const shown = new Date(time.dateTime).toLocaleString("en-GB", hasClock ? { ...date, ...clock } : date);
    if (shown === written) continue;
    time.title = written;
    time.textContent = shown;
  }
};
