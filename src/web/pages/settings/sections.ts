import type { ComponentType } from 'react'
import { Keys } from './keys/keys.tsx'
import { Policies } from './policies.tsx'
import { Secrets } from './secrets/secrets.tsx'
import { SessionSettings } from './session-settings.tsx'
import { Storage } from './storage/storage.tsx'
import { Trash } from './trash.tsx'
import { Webhooks } from './webhooks/webhooks.tsx'

/** A part of the settings, at `/settings/<name>`. */
export interface Section {
  readonly name: string
  readonly label: string
  readonly content: ComponentType
}

export const SECTIONS: readonly Section[] = [
  { name: 'keys', label: 'Keys', content: Keys },
  { name: 'secrets', label: 'Secrets', content: Secrets },
  { name: 'webhooks', label: 'Webhooks', content: Webhooks },
  { name: 'policies', label: 'Policies', content: Policies },
  { name: 'storage', label: 'Storage', content: Storage },
  { name: 'trash', label: 'Trash', content: Trash },
  { name: 'session', label: 'Session', content: SessionSettings },
]
