export { bytesOf, isReference } from "./reference.ts";
export { largestXCom, XComs } from "./xcoms.ts";
