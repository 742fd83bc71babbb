import { describe, expect, it } from "vitest";
import { invalidRequestError, messageWithNames } from "../../../adapters/client/client-error.js";
import { invalidRequest } from "../../../domain/invalid-request.js";

const refused = (index?: number) => invalidRequestError(invalidRequest("files", { name: "bytes_max", max: 10 }, index));

describe("an error of the typed client", () => {
  it("uses the caller's own name for the parameter, if there is one", () => {
    const names = new Map([["files[1]", "harbour.jpg"]]);
    expect(messageWithNames(refused(1), names)).toBe("harbour.jpg: must have at most 10 bytes.");
    expect(messageWithNames(refused(0), names)).toBe("files[0]: must have at most 10 bytes.");
    expect(messageWithNames({ ...refused(1), message: "Too large." }, names)).toBe("Too large.");
    expect(messageWithNames({ ...refused(1), param: undefined }, names)).toBe("files[1]: must have at most 10 bytes.");
  });
});
