import type { Caller, Sessions } from '../../access/keys.ts'
import { PAGES } from '../workbench/addresses.ts'

/**
 * An address that signs a browser in with a key, once, within 15 minutes. Browsers do not send the part after
 * `#`, so no log contains the token: the page reads and posts it.
 */
export async function signInLink(
  sessions: Pick<Sessions, 'makeLink'>,
  caller: Caller,
  url: string,
): Promise<SignInLink> {
  const { token, until } = await sessions.makeLink(caller)
  return { url: `${url}/${PAGES.signIn}#token=${token}`, until }
}

/** An address, and its expiry time (ISO 8601). */
export interface SignInLink {
  readonly url: string
  readonly until: string
}
