import { ContainerModule } from "inversify";
import { storeUseCases } from "../../application/create-application.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The use cases of the commands. They open the database and nothing else. */
export const useCasesOnStores = new ContainerModule(({ bind }) => {
  const { config, stores, clock, ids, secrets } = tokens;
  provide(bind, tokens.storeUseCases, { config, stores, clock, ids, secrets }, ({ config, stores, ...ports }) =>
    storeUseCases({ ...stores, ...ports }, config),
  );
});
