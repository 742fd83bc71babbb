import { localTimes } from "./local-times.js";

/** The page of an answer, to take parts of it: with times in the zone of the reader. No script in it runs. */
export const readPage = (text: string): Document => {
  const page = new DOMParser().parseFromString(text, "text/html");
  localTimes(page);
  return page;
};
