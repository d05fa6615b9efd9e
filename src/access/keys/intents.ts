import { yieldToEventLoop, Turns } from '../../base/scheduling.ts'
import { hash } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { Refusal } from '../../errors.ts'
import {
  type Documents,
  type HowToLease,
  type Lease,
  documentsOf,
  type Fs,
  type BeforeTakeOver,
} from '../../storage/files.ts'
import { projectNames } from './projects.ts'
import { type Intent, type ResultAddress, intentFile } from './intent-file.ts'
import type { DecisionNote } from '../../git/transactions.ts'

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly project: string
  /** The id of the API key; each has its own idempotency keys. */
  readonly credential: string
  readonly key: string
  /** Everything that distinguishes requests: method, path, query string, body. */
  readonly asks: readonly string[]
}

/** One attempt at a keyed request. */
export interface IntentAttempt extends AttemptDecisions {
  /** The id of an artifact that the work creates, the same in every attempt. */
  readonly artifactId: string
  /** When the first attempt began, if there was one. It may have done the work and died before saving the result. */
  readonly earlier: Date | undefined
}

export interface KeyedWork<T> {
  /** Does the work; `address` is where its result can be found again. */
  readonly run: (attempt: IntentAttempt) => Promise<{ readonly answer: T; readonly address: ResultAddress }>
  /** Answers from an existing result. */
  readonly recall: (address: ResultAddress) => Promise<T>
  /** Whether an error of `run` means that nothing was stored, now or later, for this request. */
  readonly isRefusal: (error: unknown) => boolean
}

const HOUR = 60 * 60 * 1000
/** The lifetime of an idempotency key, in milliseconds (interface 2.25). */
const LIFETIME_MS = 24 * HOUR
const FILES_BETWEEN_YIELDS = 100

/**
 * Carries out a keyed request only once, however often it is sent, across restarts and servers. An intent is written to the disk before the
 * work, and gets the address of the result afterwards. An attempt holds the key's lock, which a dead process loses. So an intent without a
 * result, found under the lock, belongs to an interrupted attempt. The decisions of an attempt are noted in the journal's records, and next
 * to the intent before the journal drops them.
 */
export class Intents {
  readonly #fs: Fs
  readonly #documents: Documents
  readonly #storeDir: string
  readonly #now: () => Date
  readonly #leasing: HowToLease
  readonly #notes: () => readonly string[]
  readonly #turns = new Turns()

  /**
   * `finishFor` finishes the decided writes of a dead process before its lock is taken, so that the results of its attempt are visible.
   * `notes` are those of the store's journals.
   */
  constructor(
    fs: Fs,
    storeDir: string,
    now: () => Date,
    finishFor?: BeforeTakeOver,
    notes: () => readonly string[] = () => [],
  ) {
    this.#fs = fs
    this.#documents = documentsOf(fs)
    this.#storeDir = storeDir
    this.#now = now
    this.#leasing = { beforeTakeOver: finishFor }
    this.#notes = notes
  }

  /**
   * Runs the work, or answers its first result again. Requests with the same key run one after the other. Refuses a key that was used for
   * another request (`idempotency_key_reused`), and, with `locked`, one that another process holds too long.
   */
  once<T>({ project, credential, key, asks }: KeyedRequest, work: KeyedWork<T>): Promise<T> {
    const folder = this.#folderOf(project)
    const name = hash('sha256', `${credential}\n${key}`)
    const fingerprint = hash('sha256', asks.join('\n'))
    // Requests of this process queue first, which is faster than retrying for the lock.
    return this.#turns.take(`${folder}/${name}`, async () => {
      const attempt = (lease: Lease): Promise<T> => this.#attempt(lease, folder, name, fingerprint, work)
      return this.#documents.lease(`${folder}/${name}`, attempt, this.#leasing)
    })
  }

  /** Removes expired intents, and what dead processes left. */
  async purge(): Promise<void> {
    let looked = 0
    for (const project of projectNames(this.#fs, this.#storeDir)) {
      const folder = this.#folderOf(project)
      for (const file of this.#fs.readDir(folder) ?? []) {
        await this.#purgeFile(folder, file)
        if (++looked % FILES_BETWEEN_YIELDS === 0) await yieldToEventLoop()
      }
      await this.#documents.sweepLeases(folder, this.#leasing)
    }
  }

  /** Purges now and every hour, until the answered function is called. */
  keepPurged(): () => void {
    // A failing disk is reported by the requests that need it.
    const purge = () => void this.purge().catch(() => undefined)
    purge()
    const timer = setInterval(purge, HOUR).unref()
    return () => clearInterval(timer)
  }

  async #attempt<T>(
    lease: Lease,
    folder: string,
    name: string,
    fingerprint: string,
    work: KeyedWork<T>,
  ): Promise<T> {
    const path = `${folder}/${name}.json`
    const known = this.#readLive(path)
    if (known && known.fingerprint !== fingerprint) throw reused(known)
    // The store shows recent writes of another process only to requests of the next turn of the event loop.
    if (known) await yieldToEventLoop()
    if (known?.result) return work.recall(known.result)
    const intent = known ?? { fingerprint, created_at: this.#now().toISOString(), artifact_id: uuidv7() }
    if (!known) await intentFile.put(lease, path, intent)
    const earlier = known && new Date(known.created_at)
    // The first attempt has no earlier decisions.
    const files = known ? this.#decidedFiles(folder, name) : []
    const decisions = new Decisions(folder, this.#storeDir, name, files)
    try {
      const { answer, address } = await work.run({
        artifactId: intent.artifact_id,
        earlier,
        ...decisions.attempt,
      })
      await intentFile.put(lease, path, { ...intent, result: address }, { mayBeLost: true }).then(
        () => this.#removeLater(decisions.forget()),
        // The work is done and noted, so a later request finds it without the result, only more slowly.
        () => undefined,
      )
      return answer
    } catch (error) {
      if (work.isRefusal(error)) {
        for (const gone of [path, ...decisions.forget()]) await lease.remove(gone)
      }
      throw error
    }
  }

  /**
   * Removes files in the background. Files that remain are removed with the intent. Without durable writes all of them remain, because a
   * power cut could undo the result but not the removals, and the request would be carried out again.
   */
  #removeLater(paths: readonly string[]): void {
    if (!this.#documents.isAlwaysDurable) return
    for (const path of paths) void this.#documents.remove(path).catch(() => undefined)
  }

  /** The files that name decisions of earlier attempts, including those that journals have yet to create. */
  #decidedFiles(folder: string, name: string): readonly string[] {
    const noted = this.#notes().map((note) => note.slice(note.lastIndexOf('/') + 1))
    return [...(this.#fs.readDir(folder) ?? []), ...noted].filter((file) => file.startsWith(`${name}.`))
  }

  /** The intent, unless it has expired. */
  #readLive(path: string): Intent | undefined {
    const intent = intentFile.read(this.#fs, path)
    if (!intent || this.#now().getTime() - Date.parse(intent.created_at) >= LIFETIME_MS) return undefined
    return intent
  }

  async #purgeFile(folder: string, file: string): Promise<void> {
    const name = /^([0-9a-f]{64})\./.exec(file)?.[1]
    if (name === undefined || file.endsWith('.lock') || !this.#isOld(`${folder}/${file}`)) return
    // Under the lock, because a request may be writing a new intent. A locked one is purged in a later round.
    const remove = async (lease: Lease): Promise<void> => {
      for (const path of [`${folder}/${name}.json`, `${folder}/${name}.json.new`, `${folder}/${file}`])
        if (this.#isOld(path)) await lease.remove(path)
    }
    await this.#documents.lease(`${folder}/${name}`, remove, this.#leasing).catch(() => undefined)
  }

  /** An expired intent is never changed, so the file's time is enough. */
  #isOld(path: string): boolean {
    const stat = this.#fs.stat(path)
    return stat !== undefined && this.#now().getTime() - stat.modified > LIFETIME_MS
  }

  #folderOf(project: string): string {
    return `${this.#storeDir}/${project}/idempotency`
  }
}

function reused({ created_at }: Intent): Refusal {
  return new Refusal(
    'idempotency_key_reused',
    `This Idempotency-Key was sent at ${created_at} with another path or body. Send that same request again, or take a ` +
      `new key for this one.`,
  )
}

/** The earlier decisions of an attempt, and its notes. */
interface AttemptDecisions {
  /** Commits that earlier attempts put on a ref of an artifact (by the last digits of its id), or were about to. */
  decidedOn(digits: string, ref: string): readonly DecidedCommit[]
  /** The note for a write that puts a commit on a ref; a repeated request gets `met` in its answer. */
  noteOf(digits: string, ref: string, commit: string, met?: RowCounts): DecisionNote
}

/** The decisions of attempts at one request: empty files next to its intent, described by their names. */
class Decisions {
  readonly #folder: string
  readonly #storeDir: string
  readonly #intent: string
  readonly #earlier: readonly string[]
  readonly #own: string[] = []
  #isOver = false

  /** `intent` is the name of the intent's file without its ending; `earlier` are the files of earlier decisions. */
  constructor(folder: string, storeDir: string, intent: string, earlier: readonly string[]) {
    this.#folder = folder
    this.#storeDir = storeDir
    this.#intent = intent
    this.#earlier = earlier
  }

  get attempt(): AttemptDecisions {
    return {
      decidedOn: (digits, ref) => decidedIn(this.#earlier, this.#intent, digits, ref),
      noteOf: (digits, ref, commit, met) =>
        this.#note(decidedFile(this.#intent, { digits, ref, commit, met })),
    }
  }

  /** The decisions are no longer needed, because the intent has the result or was removed. Answers the files to remove. */
  forget(): readonly string[] {
    this.#isOver = true
    const decided = [...this.#earlier, ...this.#own].filter((file) => file.endsWith('.decided'))
    return decided.map((file) => `${this.#folder}/${file}`)
  }

  #note(file: string): DecisionNote {
    this.#own.push(file)
    const folder = this.#folder.slice(this.#storeDir.length + 1)
    return { path: `${folder}/${file}`, isNeeded: () => !this.#isOver }
  }
}

/** A commit that an attempt put on a ref, or was about to; recorded as the name of an empty file next to the intent. */
interface Decided {
  /** The last twelve digits of the artifact's id. */
  readonly digits: string
  readonly ref: string
  readonly commit: string
  readonly met?: RowCounts | undefined
}

/** How many rows equal another one (`collapsed`), and how many were replaced by a later one (`replaced`). */
interface RowCounts {
  readonly collapsed: number
  readonly replaced: number
}

/**
 * The name of the file. `intent` is the name of the intent, a hash of the credential and the key. Names without counts are of requests
 * without rows, and of earlier versions.
 */
function decidedFile(intent: string, { digits, ref, commit, met }: Decided): string {
  const counts = met ? `.${met.collapsed}-${met.replaced}` : ''
  return `${intent}.${digits}.${hash('sha256', ref).slice(0, 16)}.${commit}${counts}.decided`
}

/** A decided commit, and the counts of its rows. */
interface DecidedCommit {
  readonly commit: string
  readonly met: RowCounts | undefined
}

/** The commits that these files record for a ref. */
function decidedIn(files: Iterable<string>, intent: string, digits: string, ref: string): DecidedCommit[] {
  const decided = new Map<string, DecidedCommit>()
  for (const file of files) {
    const [, commit, collapsed, replaced] = /\.([0-9a-f]{40})(?:\.(\d+)-(\d+))?\.decided$/.exec(file) ?? []
    if (commit === undefined) continue
    const met =
      collapsed === undefined ? undefined : { collapsed: Number(collapsed), replaced: Number(replaced) }
    if (file === decidedFile(intent, { digits, ref, commit, met })) decided.set(commit, { commit, met })
  }
  return [...decided.values()]
}
