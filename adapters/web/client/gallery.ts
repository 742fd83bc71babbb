import { endlessList } from "./endless-list.js";

void endlessList("gallery");
