import { SESSION_SECONDS } from '../../access/sessions/sessions.ts'

/**
 * The cookie that holds the token of a session. Over https it has a name that browsers take from https and this very host alone, so that no
 * page of a neighbouring host, and nobody on the line, can put a session of theirs in its place.
 */
const SECURE = '__Host-branchpoint'
const PLAIN = 'branchpoint'

/** The token in a Cookie header; undefined if there is none. Where everybody comes over https, no other cookie counts. */
export function sessionTokenIn(header: string | undefined, isAlwaysHttps: boolean): string | undefined {
  if (header === undefined || !header.includes(PLAIN)) return undefined
  return valueOf(header, SECURE) ?? (isAlwaysHttps ? undefined : valueOf(header, PLAIN))
}

/** What has a browser keep a token: no script reads it, and no request that another site starts carries it. */
export function cookieOf(token: string, isSecure: boolean): string {
  return `${attributes(isSecure ? SECURE : PLAIN, token, isSecure)}; Max-Age=${SESSION_SECONDS}`
}

/** What has it forget the token of such a header. */
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
