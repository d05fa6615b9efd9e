import { hash, randomBytes } from 'node:crypto'

/** A new secret: `svc_` and 32 random bytes as 43 characters of URL-safe base64. */
export function newToken(): string {
  return `svc_${randomBytes(32).toString('base64url')}`
}

/** The SHA-256 of a token; only this is stored. A slow hash is not needed, because 256 random bits cannot be guessed. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
