export { createApi, type Api, type ApiOptions, type ApiRoute } from "./create-api.ts";
