import type { InvalidRequest } from "../../domain/invalid-request.js";

/** The message of an error in a form: "Password must have …" instead of "password: must have …". */
export const fieldMessage = ({ message }: InvalidRequest): string => {
  const text = message
    .replace(/^request body: /, "A panorama ")
    .replace(/^([\w[\].]+): /, "$1 ")
    .replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
};
