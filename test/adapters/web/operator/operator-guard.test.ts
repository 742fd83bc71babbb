import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PASSWORD, WebService } from "../../../support/web-service.js";

describe("the operator's pages without an operator", () => {
  let service: WebService;
  beforeAll(async () => {
    service = await WebService.start();
  });
  afterAll(() => service.end());

  const logIn = async (): Promise<string> => {
    const { email } = await service.person("ann");
    const body = new URLSearchParams({ email, password: PASSWORD });
    const headers = { origin: service.url };
    const login = await fetch(`${service.url}/login`, { method: "POST", headers, redirect: "manual", body });
    return login.headers.get("set-cookie")?.split(";")[0] ?? "";
  };

  it("are like pages that nobody has made, for visitors and for customers", async () => {
    for (const cookie of ["", await logIn()]) {
      const read = async (path: string) => {
        const response = await fetch(service.url + path, { headers: { cookie }, redirect: "manual" });
        return { status: response.status, text: await response.text() };
      };
      const unknown = await read("/nothing");
      expect(unknown.status).toBe(404);
      expect(unknown.text.includes("Log out")).toBe(cookie !== "");
      for (const path of ["/operator", "/operator/login", "/operator/accounts/acc_1", "/operator/tasks/pano_1"])
        expect(await read(path)).toEqual(unknown);
    }
  });

  it("take forms during a maintenance, as commands work then", () => {
    const forms = service.pages.filter(({ method, path }) => method === "POST" && path.startsWith("/operator"));
    expect(forms.length).toBeGreaterThan(5);
    expect(forms.filter(({ duringMaintenance }) => duringMaintenance !== true)).toEqual([]);
  });
});
