/* `panorama-service/adapters/node`: every port of an application on Node.js. */
export * from "../../../../adapters/node/node-ports.js";
