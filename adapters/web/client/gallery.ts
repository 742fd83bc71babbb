import { endlessList } from "./endless-list.js";

endlessList("gallery");
