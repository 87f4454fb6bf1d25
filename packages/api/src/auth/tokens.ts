// Bearer tokens: signed, short of nothing, checked for one algorithm, issuer and audience. Whoever holds the key makes
// them; without a configured key each start makes its own, so that a restart logs everybody out rather than trusting a
// known default.
// A token says when it ends and not when it begins: one that was made by a host whose clock is fast would be refused by
// every other, and by itself once its clock was set.
import { randomBytes, randomUUID } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import { AppError } from "@millrace/shared/errors";
import type { Config } from "@millrace/shared/config";

const ALGORITHM = "HS512";
const ISSUER = "millrace";
const AUDIENCE = "urn:millrace:api";
const LEEWAY_SECONDS = 10;

export interface User {
  readonly name: string;
  readonly role: string;
}

export class Tokens {
  readonly #key: Uint8Array;
  readonly lifetimeSeconds: number;

  constructor(config: Config["api_auth"]) {
    this.#key = config.jwt_secret === "" ? randomBytes(64) : new TextEncoder().encode(config.jwt_secret);
    this.lifetimeSeconds = Math.ceil(config.jwt_expiration_time);
  }

  async issue(user: User): Promise<string> {
    return await new SignJWT({ role: user.role })
      .setProtectedHeader({ alg: ALGORITHM })
      .setSubject(user.name)
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime(`${this.lifetimeSeconds}s`)
      .sign(this.#key);
  }

  /** @throws AppError AUTH_REQUIRED when it has expired, TOKEN_INVALID when it is not one of ours. */
  async verify(token: string): Promise<User> {
    try {
      const { payload } = await jwtVerify(token, this.#key, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        clockTolerance: LEEWAY_SECONDS,
        requiredClaims: ["sub", "exp", "jti"],
      });
      return { name: payload.sub ?? "", role: typeof payload["role"] === "string" ? payload["role"] : "viewer" };
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw new AppError("AUTH_REQUIRED", {}, { cause: error });
      throw new AppError("TOKEN_INVALID", { cause: "it was not issued by this server" }, { cause: error });
    }
  }
}
