import { COMMAND } from '../../command-name.ts'
import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'
import { isLive, type KeyChoice, listApiKeys, liveKeyIn } from './api-keys.ts'
import type { KeyRing } from './authenticator.ts'
import { type Caller, SERVER_KEY_ID } from './caller.ts'
import { DEFAULT_PROJECT } from './project-name.ts'

/** The key of a sign-in link. */
export interface LinkChoice {
  readonly project: string
  /** By default the key in SVC_API_KEY, else the oldest live one with the scope `admin`. */
  readonly key?: KeyChoice | undefined
}

/** The key with which a link signs in. Refuses if the project has no suitable key, and if several have the name. */
export function keyOfLink(fs: Fs, storeDir: string, keys: KeyRing, { project, key }: LinkChoice): Caller {
  const all = listApiKeys(fs, storeDir, project)
  if (key === undefined) {
    const own = keys.liveKey(project, SERVER_KEY_ID)
    if (own) return own
  }
  const chosen = key
    ? liveKeyIn(all, project, key)
    : all.find((it) => isLive(it) && it.scopes.includes('admin'))
  const found = chosen && keys.liveKey(project, chosen.id)
  if (found) return found
  throw new Refusal(
    'key_not_found',
    `Project "${project}" has no live key with the scope admin. Make one: ${COMMAND} keys create --name me --scopes admin` +
      (project === DEFAULT_PROJECT ? '' : ` --project ${project}`),
  )
}
