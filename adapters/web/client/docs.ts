import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { element } from "./element.js";

// The library has a dark mode, but does not read the preferred colour scheme.
const dark = matchMedia("(prefers-color-scheme: dark)");
const applyColourScheme = (): void => void document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyColourScheme);
applyColourScheme();

const docs = element("docs");
SwaggerUI({
  domNode: docs,
  url: docs.dataset.description,
  displayRequestDuration: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  onComplete: () => {
    // The library gives this element no accessible name.
    document.getElementById("servers")?.setAttribute("aria-label", "Server");
    document.body.dataset.ready = "docs";
  },
});
