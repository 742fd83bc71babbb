import { lookup } from "node:dns/promises";
import { expect, it } from "vitest";
import { isPublicAddress } from "../../../domain/public-host.js";

it("an IPv4-compatible address, as the name lookup writes it, is not public", async () => {
  const { address } = await lookup("::808:808");
  expect(isPublicAddress(address)).toBe(false);
});
