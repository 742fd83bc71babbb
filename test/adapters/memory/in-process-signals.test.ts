import { InProcessEventSignals, InProcessTaskSignals } from "../../../adapters/memory/in-process-signals.js";
import { describeEventSignals, describeTaskSignals } from "../../contracts/signals-contract.js";

describeTaskSignals("InProcessTaskSignals", () => new InProcessTaskSignals());
describeEventSignals("InProcessEventSignals", () => new InProcessEventSignals());
