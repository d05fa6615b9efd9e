import type { Caller } from '../../access/caller.ts'
import type { Sessions } from '../../access/sessions/sessions.ts'
import { PAGES } from '../workbench/addresses.ts'

/**
 * An address that signs a browser in with a key, once, within a quarter of an hour. Browsers send nobody what stands behind the `#`, so no log
 * has it: the page there reads it and posts it.
 */
export async function signInLink(
  sessions: Pick<Sessions, 'makeLink'>,
  caller: Caller,
  url: string,
): Promise<SignInLink> {
  const { token, until } = await sessions.makeLink(caller)
  return { url: `${url}/${PAGES.signIn}#token=${token}`, until }
}

/** An address, and until when it signs in (ISO 8601). */
export interface SignInLink {
  readonly url: string
  readonly until: string
}
