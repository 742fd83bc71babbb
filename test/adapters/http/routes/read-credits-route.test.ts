import { expect, it, onTestFinished } from "vitest";
import { A_CREATION, HttpService } from "../../../support/http-service.js";

it("GET /credits returns remaining, reserved and spent credits", async () => {
  const service = await HttpService.start();
  onTestFinished(() => service.end());
  const customer = await service.customer();
  await service.created(customer, { ...A_CREATION, resolution: "4k" });
  const response = await service.request("/credits", customer);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ remaining_credits: 90, reserved_credits: 10, spent_credits: 0 });
  await service.settle();
  expect(await (await service.request("/credits", customer)).json()).toEqual({
    remaining_credits: 90,
    reserved_credits: 0,
    spent_credits: 10,
  });
});
