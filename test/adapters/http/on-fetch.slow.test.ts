import { httpTestsOn } from "../../support/http-tests-on.js";

/** The routes of the REST interface for the handler of the Fetch standard. */
await httpTestsOn("fetch", "routes/");
