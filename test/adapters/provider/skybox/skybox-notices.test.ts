import { describeProviderNotices } from "../../../support/contracts/provider-notices-contract.js";
import { startSkyboxNotices } from "../../../support/notices-under-test.js";

describeProviderNotices("skybox", startSkyboxNotices);
