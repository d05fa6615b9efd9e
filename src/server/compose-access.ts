import { type KeyRing, openKeyRing } from '../access/authenticator.ts'
import type { KeyUses } from '../access/key-uses.ts'
import { Sessions } from '../access/sessions/sessions.ts'
import type { Store } from '../git/store.ts'
import { SessionDoor } from '../http/sessions/session-door.ts'
import type { StartOptions } from './started-service.ts'

/** Who may come in: keys, and sessions that stand for keys. */
export interface Access {
  readonly keys: KeyRing
  readonly sessions: Sessions
  readonly door: SessionDoor
}

/** Opens the keys and sessions of a store. */
export function composeAccess({ config, log, now }: StartOptions, { fs }: Store, keyUses: KeyUses): Access {
  const { storeDir } = config
  const keys = openKeyRing({
    fs,
    storeDir,
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
  return { keys, sessions, door: new SessionDoor(sessions, config.publicUrl) }
}
