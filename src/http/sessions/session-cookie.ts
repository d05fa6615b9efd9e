import { SESSION_SECONDS } from '../../access/keys.ts'

/**
 * The cookie with a session's token. Over https its name has a prefix that browsers accept only from https
 * and this exact host, so that neither a page of a neighbouring host nor a network attacker can replace the
 * session.
 */
const SECURE = '__Host-branchpoint'
const PLAIN = 'branchpoint'

/**
 * The token in a Cookie header; undefined if there is none. If all clients use https, only the https cookie
 * counts.
 */
export function sessionTokenIn(header: string | undefined, isAlwaysHttps: boolean): string | undefined {
  if (header === undefined || !header.includes(PLAIN)) return undefined
  return valueOf(header, SECURE) ?? (isAlwaysHttps ? undefined : valueOf(header, PLAIN))
}

/**
 * A cookie that stores a token: scripts cannot read it, and requests started by other sites do not send it.
 */
export function cookieOf(token: string, isSecure: boolean): string {
  return `${attributes(isSecure ? SECURE : PLAIN, token, isSecure)}; Max-Age=${SESSION_SECONDS}`
}

/** A cookie that removes the token in such a header. */
export function cookieRemoved(header: string | undefined): string {
  const isSecure = valueOf(header ?? '', SECURE) !== undefined
  return `${attributes(isSecure ? SECURE : PLAIN, '', isSecure)}; Max-Age=0`
}

function attributes(name: string, value: string, isSecure: boolean): string {
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
}

function valueOf(header: string, name: string): string | undefined {
  const pair = header.split(';').find((it) => it.trim().startsWith(`${name}=`))
  return pair?.trim().slice(name.length + 1)
}
