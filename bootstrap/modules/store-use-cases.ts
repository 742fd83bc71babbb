import { ContainerModule } from "inversify";
import { storeUseCases } from "../../application/create-application.js";
import { provide } from "../provide.js";
import { storePorts, tokens } from "../tokens.js";

/** The use cases of the commands. They open the database and nothing else. */
export const useCasesOnStores = new ContainerModule(({ bind }) => {
  provide(bind, tokens.storeUseCases, { config: tokens.config, ...storePorts }, ({ config, ...ports }) =>
    storeUseCases(ports, config),
  );
});
