/* `panorama-service/adapters/providers`: who generates panoramas. */
export {
  type FunctionProviderOptions,
  type Generate,
  GenerationError,
} from "../../../../adapters/provider/function/function-options.js";
export * from "../../../../adapters/provider/function/function-provider.js";
export * from "../../../../adapters/provider/local/open-local-provider.js";
export * from "../../../../adapters/provider/remote/comfy/comfy-provider.js";
export * from "../../../../adapters/provider/remote/comfyui/comfyui-provider.js";
export * from "../../../../adapters/provider/remote/fal/fal-provider.js";
export * from "../../../../adapters/provider/remote/http/http-provider.js";
export * from "../../../../adapters/provider/remote/remote-options.js";
export * from "../../../../adapters/provider/remote/replicate/replicate-provider.js";
export * from "../../../../adapters/provider/remote/skybox/skybox-provider.js";
export * from "../../../../adapters/provider/remote/worldlabs/worldlabs-provider.js";
