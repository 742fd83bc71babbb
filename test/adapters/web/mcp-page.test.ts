import { expect, it } from "vitest";
import { newMember, setUpService, visiting } from "../../support/visit.js";

const service = setUpService();

it("creates a key on /mcp, and shows it once, in every configuration", async () => {
  const { cookie, post, read } = await newMember(service);
  const before = await read("/mcp");
  expect(before.match(/sk-\.\.\./g)?.length).toBeGreaterThan(4);
  expect(before).toContain("How many credits do I have?");

  const created = await post("/account/keys", { name: "MCP", shown_on: "/mcp" });
  expect(created.location).toBe("/mcp#configuration");
  const { text: shown, cookie: taken } = await visiting(service, `${cookie}; ${created.cookie}`).get("/mcp");
  const [secret] = /sk-[A-Za-z0-9_-]{43}/.exec(shown) ?? [];
  expect(shown.split(secret ?? "none").length - 1).toBe(5);
  expect(shown).not.toContain("sk-...");
  expect((await fetch(`${service.url}/api/v1/credits`, { headers: { "x-api-key": secret ?? "" } })).status).toBe(200);

  expect(taken).toBe("note=");
  expect(await read("/mcp")).not.toContain(secret);
});

it("redirects to no other page than /mcp", async () => {
  const { post } = await newMember(service);
  const { location } = await post("/account/keys", { name: "MCP", shown_on: "https://other.example" });
  expect(location).toBe("/account/keys#new-key");
});

it("offers no key to a visitor who is not logged in", async () => {
  const page = await (await fetch(`${service.url}/mcp`)).text();
  expect(page).not.toContain('action="/account/keys"');
});
