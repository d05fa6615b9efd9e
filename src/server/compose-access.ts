import {
  type KeyRing,
  openKeyRing,
  type Caller,
  type KeyUses,
  DEFAULT_PROJECT,
  keyOfLink,
  Sessions,
} from '../access/keys.ts'
import { Refusal } from '../errors.ts'
import type { Store } from '../git/store.ts'
import { SessionDoor } from '../http/request.ts'
import { signInLink } from '../http/public-routes.ts'
import type { Fs } from '../storage/files.ts'
import type { StartOptions } from './started-service.ts'

/** Access to the service: keys, and sessions that stand for keys. */
export interface Access {
  readonly keys: KeyRing
  readonly sessions: Sessions
  readonly door: SessionDoor
  /** A link that signs in as an admin of the project `default` at this address; undefined without a suitable key. */
  signInLink(url: string): Promise<string | undefined>
}

export function composeAccess({ config, log, now }: StartOptions, { fs }: Store, keyUses: KeyUses): Access {
  const { storeDir } = config
  const keys = openKeyRing({
    fs,
    storeDir,
    now,
    adminToken: config.adminKey,
    onUse: ({ project, key }) => keyUses.note(project, key.id),
    onDamage: (error) => log.logger.error({ err: error }, 'a key file cannot be read; its keys are refused'),
  })
  const sessions = new Sessions({
    fs,
    storeDir,
    keys,
    now,
    onDamage: (error) => log.logger.error({ err: error }, 'who is signed in cannot be read'),
  })
  return {
    keys,
    sessions,
    door: new SessionDoor(sessions, config.publicUrl),
    signInLink: async (url) => {
      const caller = adminOf(fs, storeDir, keys)
      return caller && (await signInLink(sessions, caller, url)).url
    },
  }
}

function adminOf(fs: Fs, storeDir: string, keys: KeyRing): Caller | undefined {
  try {
    return keyOfLink(fs, storeDir, keys, { project: DEFAULT_PROJECT })
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}
