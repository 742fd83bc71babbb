const { lang } = document.documentElement;

/** For numbers and dates, in the language of the page. */
export const locale = lang === "en" ? "en-GB" : lang;
