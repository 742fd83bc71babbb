/** The text itself, or its first `charactersMax` Unicode characters and an ellipsis if it is longer. */
export const shortened = (text: string, charactersMax: number): string => {
  // A character has at most two UTF-16 units, so a long text is not read to its end.
  const characters = [...text.slice(0, 2 * charactersMax + 1)];
  return characters.length > charactersMax ? `${characters.slice(0, charactersMax).join("")}…` : text;
};
