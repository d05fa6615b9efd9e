import { hash, randomBytes } from 'node:crypto'

/** A new secret: `svc_` and 32 random bytes in 43 characters of URL-safe base64. */
export function newToken(): string {
  return `svc_${randomBytes(32).toString('base64url')}`
}

/**
 * The SHA-256 of a token, which is all that is kept of it. A plain hash is enough: 256 random bits cannot be guessed, so
 * there is nothing for a slow hash to slow down.
 */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
