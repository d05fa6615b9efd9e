import { createHmac, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'
import { type Caller, callerWith, SERVER_KEY_ID } from './caller.ts'
import { keyAuthor } from './key-author.ts'
import { type ApiKey, keyFilePath, readApiKeyFile } from './key-file.ts'
import { hashToken } from './key-token.ts'
import { DEFAULT_PROJECT } from './project-name.ts'
import { projectNames } from './projects.ts'

/** Answers the holder of a token; undefined if no live key has it. Refuses with `key_expired` the token of a key that has expired. */
export type Authenticate = (token: string) => Caller | undefined

/** The live keys of a store. */
export interface KeyRing {
  readonly callerOf: Authenticate
  /** The live key with this id. A session's requests act with the rights of its key. */
  liveKey(project: string, id: string): Caller | undefined
  /**
   * A seal that ties a token to SVC_API_KEY, if that key has this id. SVC_API_KEY is not stored, and may have been replaced since. Without
   * the token, the seal reveals nothing of the key.
   */
  sealOf(id: string, token: string): string | undefined
}

export interface KeyRingOptions {
  readonly fs: Fs
  readonly storeDir: string
  /** A token that is the admin key of project `default` without being stored anywhere. */
  readonly adminToken?: string | undefined
  /** Called once for each state of an unreadable key file; its keys are refused meanwhile. */
  readonly onDamage: (error: unknown) => void
  /** Called for each request with a key that is stored. */
  readonly onUse?: (caller: Caller) => void
  /** Tells which keys have expired; the machine's clock unless given. */
  readonly now?: () => Date
}

/**
 * Looks tokens up in the key files of all projects. Keys that another process made or revoked count from the next request on. A known token
 * costs one hash and at most one stat, of its project's file; only an unknown one causes a look at every project. Hashes are compared in
 * constant time.
 */
export function openKeyRing(options: KeyRingOptions): KeyRing {
  const { fs, storeDir, adminToken, onDamage, onUse, now = () => new Date() } = options
  const admin = adminToken === undefined ? undefined : adminKey(adminToken)
  const projects = new Map<string, ProjectKeys>()
  /**
   * The projects whose files were checked in this round of the event loop. All requests of a round had arrived before the check, so sharing
   * it accepts no key that was revoked before its request was sent.
   */
  const checked = new Set<string>()
  const forgetChecks = () => checked.clear()
  /** The project in which a hash was last found. */
  const homes = new Map<string, string>()

  function current(project: string): ProjectKeys {
    const known = projects.get(project)
    if (known && checked.has(project)) return known
    if (checked.size === 0) setImmediate(forgetChecks)
    checked.add(project)
    const stamp = stampNow(project)
    if (known && known.stamp === stamp) return known
    const read = { stamp, entries: stamp === UNREADABLE ? [] : readEntries(project) }
    projects.set(project, read)
    return read
  }

  /** A project's folder that cannot be read does not affect other projects. */
  function stampNow(project: string): string {
    try {
      return stampOf(fs, keyFilePath(storeDir, project))
    } catch (error) {
      if (error instanceof Refusal) throw error
      if (projects.get(project)?.stamp !== UNREADABLE) onDamage(error)
      return UNREADABLE
    }
  }

  function readEntries(project: string): readonly KeyEntry[] {
    try {
      return readApiKeyFile(fs, storeDir, project)
        .filter(({ revoked_at: at }) => at === undefined)
        .map((key) => toEntry(project, key))
    } catch (error) {
      onDamage(error)
      return []
    }
  }

  /** Hashes of recently used live tokens; hashing costs more than the rest of a lookup. */
  const hashes = new LRUCache<string, Buffer>({ max: 1000 })

  const isOver = ({ caller: { key } }: KeyEntry): boolean =>
    key.expiresAt !== undefined && Date.parse(key.expiresAt) <= now().getTime()

  const callerOf: Authenticate = (token) => {
    const hash = hashes.get(token) ?? hashToken(token)
    const caller = admin && timingSafeEqual(admin.hash, hash) ? admin.caller : storedCaller(hash)
    if (caller) hashes.set(token, hash)
    else hashes.delete(token)
    return caller
  }

  function storedCaller(hash: Buffer): Caller | undefined {
    const name = hash.toString('latin1')
    const home = homes.get(name)
    for (const project of home === undefined ? projectNames(fs, storeDir) : [home]) {
      const found = find(current(project).entries, hash)
      if (!found) continue
      homes.set(name, project)
      if (isOver(found)) throw expired(found.caller)
      onUse?.(found.caller)
      return found.caller
    }
    homes.delete(name)
    return undefined
  }

  const liveKey: KeyRing['liveKey'] = (project, id) => {
    if (id === SERVER_KEY_ID) return project === DEFAULT_PROJECT ? admin?.caller : undefined
    const found = current(project).entries.find(({ caller }) => caller.key.id === id)
    if (!found || isOver(found)) return undefined
    onUse?.(found.caller)
    return found.caller
  }

  const sealOf: KeyRing['sealOf'] = (id, token) =>
    id === SERVER_KEY_ID && adminToken !== undefined
      ? createHmac('sha256', token).update(adminToken).digest('hex')
      : undefined

  return { callerOf, liveKey, sealOf }
}

const UNREADABLE = 'unreadable'

interface ProjectKeys {
  /** Changes whenever the file does. */
  readonly stamp: string
  readonly entries: readonly KeyEntry[]
}

interface KeyEntry {
  readonly hash: Buffer
  readonly caller: Caller
}

function adminKey(token: string): KeyEntry {
  const key = { id: SERVER_KEY_ID, ...keyAuthor('admin'), scopes: ['admin'] } as const
  return { hash: hashToken(token), caller: callerWith(DEFAULT_PROJECT, key) }
}

/** A replaced file has another inode; size and time also detect an edit in place. */
function stampOf(fs: Fs, path: string): string {
  const stat = fs.stat(path)
  return stat ? `${stat.inode} ${stat.modified} ${stat.size}` : ''
}

function toEntry(project: string, key: ApiKey): KeyEntry {
  const { id, name, email, scopes, folders, expires_at: at } = key
  const caller = callerWith(project, {
    id,
    name,
    email,
    scopes,
    ...(folders ? { folders } : {}),
    ...(at === undefined ? {} : { expiresAt: at }),
  })
  return { hash: Buffer.from(key.sha256, 'hex'), caller }
}

function find(entries: readonly KeyEntry[], hash: Buffer): KeyEntry | undefined {
  return entries.find((entry) => timingSafeEqual(entry.hash, hash))
}

function expired({ key }: Caller): Refusal {
  return new Refusal(
    'key_expired',
    `The API key "${key.name}" expired at ${key.expiresAt}. Ask an administrator for another one.`,
  )
}
