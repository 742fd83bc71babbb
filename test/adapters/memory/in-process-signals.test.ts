import { describe, it } from "vitest";
import { InProcessEventSignals, InProcessTaskSignals } from "../../../adapters/memory/in-process-signals.js";
import { describeEventSignals, describeTaskSignals } from "../../contracts/signals-contract.js";

describeTaskSignals({ describe, it }, "InProcessTaskSignals", () => new InProcessTaskSignals());
describeEventSignals({ describe, it }, "InProcessEventSignals", () => new InProcessEventSignals());
