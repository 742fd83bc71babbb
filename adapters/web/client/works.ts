import { followCards } from "./card-updates.js";
import { creationForm } from "./creation-form.js";
import { endlessList } from "./endless-list.js";
import { undoableDelete } from "./undoable-delete.js";

followCards();
undoableDelete();
endlessList("list");
if (document.getElementById("create") !== null) creationForm();
