/** Text that every store returns unchanged: databases refuse U+0000, and half a surrogate pair is not a character. */
export const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed();

/** Whether people see all of it in one line: 1 to `max` characters, none of them a control character. */
export const isVisible = (text: string, max: number): boolean =>
  text !== "" && [...text].length <= max && !/\p{Cc}|\p{Cs}/u.test(text);
