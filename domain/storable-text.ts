/** Text that every store returns unchanged: databases refuse U+0000, and half a surrogate pair is not a character. */
export const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed();
