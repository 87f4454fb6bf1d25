export { assetEventsOf, wrongAssetEvents, type EventSource } from "./asset-events-of.ts";
export {
  deleteAssetState,
  getAssetState,
  inactiveAssets,
  readEventsFor,
  readRunEvents,
  setAssetState,
} from "./for-handlers.ts";
export { createAssetEvent, deleteQueuedEvents, materializeAsset, type QueuedFilter } from "./operate.ts";
export { changeAssetState, findAssetState, listAssetStates, removeAssetState } from "./states.ts";
export { writeAssetEvents, type NewAssetEvent } from "./write-asset-events.ts";
