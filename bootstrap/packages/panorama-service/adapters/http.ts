/* `panorama-service/adapters/http`: the REST interface on a server of yours. */

export * from "../../../../adapters/http/embedded-routes.js";
export * from "../../../../adapters/http/observer.js";
export * from "../../../../adapters/http/requests/allow-origin.js";
export * from "../../../../adapters/http/routes/asset-route.js";
