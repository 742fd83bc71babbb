import { describe, expect, it, onTestFinished } from "vitest";
import { OperationalReporter } from "../../adapters/observability/reporter.js";
import { readConfig } from "../../bootstrap/config.js";
import { provide, token } from "../../bootstrap/provide.js";
import { createService, type Service } from "../../bootstrap/service.js";
import { tokens } from "../../bootstrap/tokens.js";
import { scratchFolder } from "../support/scratch-folder.js";

const openService = async (): Promise<Service> => {
  const environment = { DATA_DIR: await scratchFolder(), LOG_LEVEL: "silent" };
  return createService(readConfig(environment)._unsafeUnwrap());
};

describe("the container", () => {
  it("makes every part that has a token, each once", async () => {
    const service = await openService();
    onTestFinished(() => service.close());
    await service.loadServer();
    for (const part of Object.values(tokens)) {
      const made = await service.get<unknown>(part);
      expect(made, String(part)).toBeDefined();
      expect(await service.get<unknown>(part), String(part)).toBe(made);
    }
  });

  it("reports to the log after the server is loaded", async () => {
    const service = await openService();
    onTestFinished(() => service.close());
    await service.loadServer();
    expect(await service.get(tokens.reporter)).toBeInstanceOf(OperationalReporter);
  });

  it("makes an async part once for concurrent requests, and disposes of it on close", async () => {
    const service = await openService();
    const [database, sameDatabase] = await Promise.all([service.get(tokens.database), service.get(tokens.database)]);
    expect(sameDatabase).toBe(database);
    await database.ping();
    await service.close();
    await expect(database.ping()).rejects.toThrow();
  });
});

describe("provide", () => {
  it("does not compile with a missing, swapped or wrongly typed dependency", () => {
    type Engine = { readonly horsepower: number };
    type Wheels = { readonly diameterInches: number };
    type Car = { readonly engine: Engine; readonly wheels: Wheels };
    const [engine, wheels, car] = [token<Engine>("engine"), token<Wheels>("wheels"), token<Car>("car")];
    const assemble = (dependencies: Car): Car => dependencies;

    const onlyCompiled = (bind: Parameters<typeof provide>[0]) => {
      provide(bind, car, { engine, wheels }, assemble);
      provide(bind, car, { engine, wheels }, async (dependencies) => assemble(dependencies));
      // @ts-expect-error: `wheels` is missing
      provide(bind, car, { engine }, assemble);
      // @ts-expect-error: the two are swapped
      provide(bind, car, { engine: wheels, wheels: engine }, assemble);
      // @ts-expect-error: no dependency has this name
      provide(bind, car, { engine, wheels }, ({ engine, tyres }) => ({ engine, wheels: tyres }));
      // @ts-expect-error: the result is not a car
      provide(bind, car, { engine, wheels }, ({ engine }) => engine);
    };
    expect(onlyCompiled).toBeTypeOf("function");
  });
});
