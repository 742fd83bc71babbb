import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { element } from "./element.js";

const docs = element("docs");
SwaggerUI({
  domNode: docs,
  url: docs.dataset.description,
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  onComplete: () => {
    document.body.dataset.ready = "docs";
  },
});
