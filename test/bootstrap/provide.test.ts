import "reflect-metadata";
import { type Bind, Container } from "inversify";
import { describe, expect, it } from "vitest";
import { provide, token } from "../../bootstrap/provide.js";

type Engine = { readonly horsepower: number };
type Wheels = { readonly diameterInches: number };
type Car = { readonly engine: Engine; readonly wheels: Wheels };

const parts = { engine: token<Engine>("engine"), wheels: token<Wheels>("wheels"), car: token<Car>("car") };

describe("provide", () => {
  it("makes a part once from its named dependencies, synchronous or not, also for concurrent requests", async () => {
    const { container, bind } = emptyContainer();
    provide(bind, parts.engine, {}, async () => ({ horsepower: 90 }));
    provide(bind, parts.wheels, {}, () => ({ diameterInches: 16 }));
    provide(bind, parts.car, { wheels: parts.wheels, engine: parts.engine }, ({ engine, wheels }) => ({
      engine,
      wheels,
    }));

    const [first, second] = await Promise.all([container.getAsync(parts.car), container.getAsync(parts.car)]);
    expect(first).toEqual({ engine: { horsepower: 90 }, wheels: { diameterInches: 16 } });
    expect(second).toBe(first);
    expect(await container.getAsync(parts.engine)).toBe(first.engine);
  });

  it("disposes of the parts that were made, and of no others, when the container is emptied", async () => {
    const { container, bind } = emptyContainer();
    const disposed: string[] = [];
    provide(
      bind,
      parts.engine,
      {},
      () => ({ horsepower: 90 }),
      () => void disposed.push("engine"),
    );
    provide(
      bind,
      parts.wheels,
      {},
      () => ({ diameterInches: 16 }),
      () => void disposed.push("wheels"),
    );
    await container.getAsync(parts.wheels);
    await container.unbindAllAsync();
    expect(disposed).toEqual(["wheels"]);
  });

  it("does not compile with a missing, swapped or wrongly typed dependency", () => {
    const { bind } = emptyContainer();
    const { engine, wheels, car } = parts;
    const assemble = (dependencies: Car): Car => dependencies;
    provide(bind, car, { engine, wheels }, assemble);
    // @ts-expect-error: `wheels` is missing
    provide(bind, car, { engine }, assemble);
    // @ts-expect-error: the two are swapped
    provide(bind, car, { engine: wheels, wheels: engine }, assemble);
    // @ts-expect-error: no dependency has this name
    provide(bind, car, { engine, wheels }, ({ engine, tyres }) => ({ engine, wheels: tyres }));
    // @ts-expect-error: the result is not a car
    provide(bind, car, { engine, wheels }, ({ engine }) => engine);
  });
});

const emptyContainer = () => {
  const container = new Container();
  const bind: Bind = (part) => container.bind(part);
  return { container, bind };
};
