export { childEnvironment } from "./child-environment.ts";
export {
  connectionFromEnvironment,
  namesInEnvironment,
  provideConnection,
  variableFromEnvironment,
} from "./connections.ts";
export { crashPointFile } from "./crash-point-file.ts";
export { environmentName, loadConfig, type Environment, type LoadConfigOptions } from "./load-config.ts";
export { OPTIONS, type Config, type OptionDefinition } from "./options.ts";
