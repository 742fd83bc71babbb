/** Text that every store returns unchanged: databases refuse U+0000, and half a surrogate pair is not a character. */
export const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed();

/** Whether people see nothing of it: it is empty, or has only white space and characters without a shape. */
export const isBlank = (text: string): boolean =>
  !/[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800\u{1d159}]/u.test(text);

/** Whether people see all of it in one line: 1 to `max` characters, none of them a control character. */
export const isVisible = (text: string, max: number): boolean =>
  text !== "" && [...text].length <= max && !/\p{Cc}|\p{Cs}/u.test(text);
