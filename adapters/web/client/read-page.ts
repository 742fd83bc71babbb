/** The page of an answer, to take parts of it. No script in it runs. */
export const readPage = (text: string): Document => new DOMParser().parseFromString(text, "text/html");
