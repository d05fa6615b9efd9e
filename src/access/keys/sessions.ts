import { COMMAND } from '../../command-name.ts'
import { randomBytes } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import { type Fs, documentsOf, type ChangedRecord, JsonRecordFile } from '../../storage/files.ts'
import type { KeyRing } from './authenticator.ts'
import type { Caller } from './caller.ts'
import { hashToken } from './key-token.ts'
import { isProjectName } from './project-name.ts'
import { z } from 'zod'

/** The duration of a session: a working day. */
export const SESSION_SECONDS = 12 * 60 * 60

/** The lifetime of a sign-in link. */
export const LINK_SECONDS = 15 * 60

/** One more ends the oldest session or link of the key. */
const MAX_SESSIONS_PER_KEY = 20
const MAX_LINKS_PER_KEY = 20

/** A session that is signed in. */
export interface OpenSession {
  readonly caller: Caller
  /** As ISO 8601. */
  readonly createdAt: string
  readonly expiresAt: string
}

export interface SessionsOptions {
  readonly fs: Fs
  readonly storeDir: string
  readonly keys: Pick<KeyRing, 'liveKey' | 'sealOf'>
  readonly now: () => Date
  /** Called once for each state of an unreadable file; no one is signed in while it is unreadable. */
  readonly onDamage: (error: unknown) => void
}

/**
 * Sessions: a browser has a token in place of an API key, with the same rights, as long as both are valid. The store has hashes of the
 * tokens, so that all its servers know them, also after a restart. Sessions that another server began or ended, and revoked keys, count from
 * the next request on.
 *
 * A token names its project, so a request costs one hash and one stat.
 */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #known = new Map<
    string,
    { readonly stamp: string; readonly byHash: ReadonlyMap<string, SessionRecord> }
  >()

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** The session of a token; undefined if it is unknown or ended, or its key is not live. */
  find(token: string): OpenSession | undefined {
    const project = projectOf(token)
    if (project === undefined) return undefined
    const found = this.#current(project).get(hashToken(token).toString('hex'))
    const caller = found && this.#live(found, project, token)
    return caller && { caller, createdAt: found.created_at, expiresAt: found.expires_at }
  }

  /** Begins a session with a new token; resolves when it is durable. */
  async begin(caller: Caller): Promise<{ readonly token: string; readonly session: OpenSession }> {
    const { project, key } = caller
    const { token, record } = this.#make(project, key, SESSION_SECONDS)
    await this.#change(project, ({ sessions, links, log }) => ({
      sessions: withOneMore(sessions, record, MAX_SESSIONS_PER_KEY),
      links,
      log: withAct(log, { action: 'began', ...actOf(record), date: record.created_at }),
    }))
    return { token, session: { caller, createdAt: record.created_at, expiresAt: record.expires_at } }
  }

  /** Ends the session of a token, if there is one; resolves when this is durable. */
  async end(token: string): Promise<void> {
    const project = projectOf(token)
    const hash = hexOf(token)
    if (project === undefined || !this.#current(project).has(hash)) return
    const date = this.#options.now().toISOString()
    await this.#change(project, ({ sessions, links, log }) => {
      const ended = sessions.find(({ sha256 }) => sha256 === hash)
      return {
        sessions: sessions.filter((it) => it !== ended),
        links,
        log: ended ? withAct(log, { action: 'ended', ...actOf(ended), date }) : log,
      }
    })
  }

  /** The last sessions that began or were ended by their user, the oldest first. */
  acts(project: string): readonly SessionAct[] {
    const { sessions, log = [] } = this.#read(project)
    const noted = new Set(log.map(({ session }) => session))
    const others = sessions.map((it) => ({ action: 'began' as const, ...actOf(it), date: it.created_at }))
    return [...others.filter(({ session }) => !noted.has(session)), ...log]
  }

  /** Creates a token that signs a browser in with a key once, until the answered time (ISO 8601). */
  async makeLink({ project, key }: Caller): Promise<{ readonly token: string; readonly until: string }> {
    const { token, record } = this.#make(project, key, LINK_SECONDS)
    await this.#change(project, ({ sessions, links, log }) => ({
      sessions,
      log,
      links: withOneMore(links, record, MAX_LINKS_PER_KEY),
    }))
    return { token, until: record.expires_at }
  }

  /** Uses up a link's token and answers its caller. Refuses a token that was used, has expired, or is unknown. */
  async useLink(token: string): Promise<Caller> {
    const project = projectOf(token)
    const hash = hexOf(token)
    // An unknown token causes no write.
    const isThere = project !== undefined && this.#read(project).links.some(({ sha256 }) => sha256 === hash)
    let used: SessionRecord | undefined
    if (isThere) {
      await this.#change(project, ({ sessions, links, log }) => {
        used = links.find(({ sha256 }) => sha256 === hash)
        return { sessions, log, links: links.filter((it) => it !== used) }
      })
    }
    const caller = used && project !== undefined ? this.#live(used, project, token) : undefined
    if (caller) return caller
    throw new Refusal(
      'unknown_token',
      `This sign-in link has expired or was already used. "${COMMAND} open" in the server's folder prints another; an API key signs in, too.`,
    )
  }

  #make(
    project: string,
    { id, expiresAt }: Caller['key'],
    seconds: number,
  ): { readonly token: string; readonly record: SessionRecord } {
    const { keys, now } = this.#options
    const token = `${project}.${randomBytes(32).toString('base64url')}`
    const begin = now().getTime()
    const end = Math.min(begin + seconds * 1000, expiresAt === undefined ? Infinity : Date.parse(expiresAt))
    const seal = keys.sealOf(id, token)
    const record = {
      sha256: hexOf(token),
      key_id: id,
      ...(seal === undefined ? {} : { seal }),
      created_at: new Date(begin).toISOString(),
      expires_at: new Date(end).toISOString(),
    }
    return { token, record }
  }

  /** The caller of a record, unless it has expired. */
  #live(record: SessionRecord, project: string, token: string): Caller | undefined {
    const { keys, now } = this.#options
    if (Date.parse(record.expires_at) <= now().getTime()) return undefined
    if (record.seal !== keys.sealOf(record.key_id, token)) return undefined
    return keys.liveKey(project, record.key_id)
  }

  #current(project: string): ReadonlyMap<string, SessionRecord> {
    const { fs, storeDir } = this.#options
    const stat = fs.stat(sessionFilePath(storeDir, project))
    if (!stat) return NOBODY
    const stamp = `${stat.inode} ${stat.modified} ${stat.size}`
    let known = this.#known.get(project)
    if (known?.stamp !== stamp) {
      const { sessions } = this.#read(project)
      known = { stamp, byHash: new Map(sessions.map((it) => [it.sha256, it])) }
      this.#known.set(project, known)
    }
    return known.byHash
  }

  #read(project: string): SessionRecords {
    const { fs, storeDir, onDamage } = this.#options
    try {
      return readSessionFile(fs, storeDir, project)
    } catch (error) {
      onDamage(error)
      return recordsIn()
    }
  }

  /** Changes the file and drops expired records. */
  async #change(project: string, change: (records: SessionRecords) => SessionRecords): Promise<void> {
    const { fs, storeDir, now, onDamage } = this.#options
    await updateSessionFile(fs, storeDir, project, onDamage, ({ sessions, links, log }) => {
      const isLive = ({ expires_at }: SessionRecord): boolean => Date.parse(expires_at) > now().getTime()
      return change({ sessions: sessions.filter(isLive), links: links.filter(isLive), log })
    })
  }
}

/** Adds a record; if its key then has more than `most`, removes the key's oldest ones. */
function withOneMore(
  records: readonly SessionRecord[],
  record: SessionRecord,
  most: number,
): readonly SessionRecord[] {
  const own = records.filter(({ key_id }) => key_id === record.key_id)
  const tooMany = new Set(own.slice(0, Math.max(0, own.length - most + 1)))
  return [...records.filter((it) => !tooMany.has(it)), record]
}

const NOBODY: ReadonlyMap<string, SessionRecord> = new Map()

function projectOf(token: string): string | undefined {
  const project = token.slice(0, Math.max(0, token.indexOf('.')))
  return isProjectName(project) ? project : undefined
}

function hexOf(token: string): string {
  return hashToken(token).toString('hex')
}

/** A session or link in `sessions.json`, with its key and a hash of its token. */
type SessionRecord = Readonly<z.infer<typeof record>>

const record = z.strictObject({
  /** Hex SHA-256 of the token. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  key_id: z.uuid(),
  /** For SVC_API_KEY, which is not stored: a value derived from the token and the key. */
  seal: z.string().optional(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
})

/** The sessions and unused links of a project. */
interface SessionRecords {
  readonly sessions: readonly SessionRecord[]
  readonly links: readonly SessionRecord[]
  readonly log: readonly SessionAct[] | undefined
}

/** That a session began, or that its user ended it. */
export type SessionAct = Readonly<z.infer<typeof sessionAct>>

const sessionAct = z.strictObject({
  action: z.enum(['began', 'ended']),
  /** The beginning of the hash of its token. */
  session: z.string(),
  key_id: z.uuid(),
  date: z.iso.datetime(),
})

/** The oldest beyond these are forgotten. */
const MOST_ACTS_KEPT = 1000

function withAct(log: readonly SessionAct[] = [], act: SessionAct): readonly SessionAct[] {
  return [...log, act].slice(-MOST_ACTS_KEPT)
}

function actOf({ sha256, key_id }: SessionRecord): Pick<SessionAct, 'session' | 'key_id'> {
  return { session: sha256.slice(0, 16), key_id }
}

const stored = z.strictObject({
  format: z.literal(1),
  sessions: z.array(record).readonly(),
  links: z.array(record).readonly(),
  log: z.array(sessionAct).readonly().optional(),
})
type StoredSessions = z.infer<typeof stored>

const sessionFile = new JsonRecordFile<StoredSessions>({
  schema: stored,
  damage: (path, why) =>
    `${path} is not a list of sessions: ${why}. Nothing but who is signed in is lost: remove it, and sign in again.`,
})

/** The path of a project's sessions, in the store and outside every repository. */
function sessionFilePath(storeDir: string, project: string): string {
  return `${storeDir}/${project}/sessions.json`
}

/** The project's sessions and links, including expired ones; empty if there is no file. Refuses an unreadable file, by its path. */
function readSessionFile(fs: Fs, storeDir: string, project: string): SessionRecords {
  return recordsIn(sessionFile.read(fs, sessionFilePath(storeDir, project)))
}

/**
 * Replaces sessions and links by the result of `change`; resolves when they are durable. An unreadable file is reported to `onDamage` and
 * replaced.
 */
function updateSessionFile(
  fs: Fs,
  storeDir: string,
  project: string,
  onDamage: (error: unknown) => void,
  change: (records: SessionRecords) => SessionRecords,
): Promise<void> {
  const changed = (before: StoredSessions | undefined): ChangedRecord<StoredSessions, void> => {
    const { sessions, links, log } = change(recordsIn(before))
    return { record: { format: 1, sessions, links, ...(log ? { log } : {}) }, answer: undefined }
  }
  return sessionFile.update(documentsOf(fs), sessionFilePath(storeDir, project), changed, { onDamage })
}

function recordsIn({ sessions, links, log }: Partial<StoredSessions> = {}): SessionRecords {
  return { sessions: sessions ?? [], links: links ?? [], log }
}
