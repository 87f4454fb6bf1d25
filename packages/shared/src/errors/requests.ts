// Requests to the API, and who makes them.
import { defineErrors } from "./define-errors.ts";

export const REQUESTS = defineErrors({
  AUTH_REQUIRED: {
    message: "Log in first: send a bearer token from POST /auth/token.",
    httpStatus: 401,
    exitCode: 4,
    retryable: false,
  },
  AUTH_FAILED: {
    message: "User name or password is wrong.",
    httpStatus: 401,
    exitCode: 4,
    retryable: false,
  },
  ORDER_BY_INVALID: {
    message: "Cannot sort by {key}; allowed: {known}.",
    httpStatus: 400,
    exitCode: 2,
    retryable: false,
  },
  TOKEN_INVALID: {
    message: "The token is not valid: {cause}. Log in again.",
    httpStatus: 403,
    exitCode: 4,
    retryable: false,
  },
  LOGIN_THROTTLED: {
    message: "Too many failed logins. Try again in {seconds} s.",
    httpStatus: 429,
    exitCode: 4,
    retryable: true,
  },
  ORIGIN_REFUSED: {
    message: "A request from another site is refused. Send a bearer token instead of the cookie.",
    httpStatus: 403,
    exitCode: 4,
    retryable: false,
  },
  TOO_MANY_STREAMS: {
    message: "{limit} pages are watching already. Close some, or reload without live changes.",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
  REQUEST_INVALID: {
    message: "The request is not valid: {cause}.",
    httpStatus: 422,
    exitCode: 2,
    retryable: false,
  },
});
