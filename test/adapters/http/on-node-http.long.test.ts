import { httpTestsOn } from "../../support/http-tests-on.js";

await httpTestsOn("node");
