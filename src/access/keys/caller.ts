import { v5 as uuidv5 } from 'uuid'
import { type Granted, granted, type Scope } from './scope.ts'

/** Who makes a request: the project it is confined to and the key, whose name and email become the git author. */
export interface Caller {
  readonly project: string
  readonly key: {
    readonly id: string
    readonly name: string
    readonly email: string
    readonly scopes: readonly Scope[]
    /** ISO 8601, if it expires. */
    readonly expiresAt?: string
    /** What it is limited to (interface 18.6); undefined if to nothing. */
    readonly folders?: readonly string[] | undefined
  }
  /** What the key may do, directly or through `admin`. */
  readonly may: Granted
}

/** The holder of a key of this project. */
export function callerWith(project: string, key: Caller['key']): Caller {
  return { project, key, may: granted(key.scopes) }
}

/** The id of the key that the server is started with (SVC_API_KEY), the same in every store. */
export const SERVER_KEY_ID = uuidv5('branchpoint:SVC_API_KEY', uuidv5.URL)

/** The API key that made a change, as answers name it (interface 14.2). */
export interface Principal {
  readonly id: string
  readonly kind: 'key'
  readonly name: string
}

/** The principal that a key is. Its id is never used again, its name may be. */
export function principalOf({ id, name }: Pick<Caller['key'], 'id' | 'name'>): Principal {
  return { id: `key:${id === SERVER_KEY_ID ? 'admin' : id}`, kind: 'key', name }
}
