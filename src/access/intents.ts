import { yieldToEventLoop } from '../scheduling/cooperative.ts'
import { Turns } from '../scheduling/turns.ts'
import { hash } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { Refusal } from '../errors.ts'
import type { Documents, HowToLease, Lease } from '../storage/documents/documents.ts'
import { documentsOf } from '../storage/documents/file-documents.ts'
import type { Fs } from '../storage/fs.ts'
import type { BeforeTakeOver } from '../storage/lock-file.ts'
import { projectNames } from './api-keys.ts'
import { type Intent, type ResultAddress, intentFile } from './intent-file.ts'
import type { DecisionNote } from '../git/transactions/arbiter.ts'

/** A request that carries an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly project: string
  /** The id of the API key it came with; each has keys of its own. */
  readonly credential: string
  readonly key: string
  /** Everything that makes it another request: method, path, query string, body. */
  readonly asks: readonly string[]
}

/** One go at the work of a keyed request. */
export interface IntentAttempt extends AttemptDecisions {
  /** The id that an artifact gets if the work creates one: the same in every attempt. */
  readonly artifactId: string
  /** When the first attempt began, if there was one: it may have done the work and died before it could say so. */
  readonly earlier: Date | undefined
}

/** What `Intents.once` calls. */
export interface KeyedWork<T> {
  /** Does the work; `address` is where its result will be found again. */
  readonly run: (attempt: IntentAttempt) => Promise<{ readonly answer: T; readonly address: ResultAddress }>
  /** Answers from a result that is there already. */
  readonly recall: (address: ResultAddress) => Promise<T>
  /** Whether what `run` threw means that it stored nothing, and never will for this request. */
  readonly isRefusal: (error: unknown) => boolean
}

const HOUR = 60 * 60 * 1000
/** How long a key is remembered, in milliseconds (interface 2.25). */
const LIFETIME = 24 * HOUR
const FILES_BETWEEN_YIELDS = 100

/**
 * Sees to it that a keyed request is carried out once, however often it is sent, across restarts and server processes. An
 * intent on the disk goes before the work and learns the result's address after it. Whoever works on a key holds its lock,
 * which a dead process loses: an intent without a result, found under the lock, is one whose attempt was cut off. What such an attempt
 * decided is noted in the journal's records, and beside the intent before the journal forgets them.
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
   * `finishFor` finishes what a dead process decided to write: before its place at a key is taken, so that what its attempt did can
   * be seen. `notes` are those of the journals of the store.
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
   * Runs the work, or answers its first result again. Requests with one key take turns. Refuses a key that another request
   * has used (`idempotency_key_reused`), and with `locked` one that another process keeps working on.
   */
  once<T>({ project, credential, key, asks }: KeyedRequest, work: KeyedWork<T>): Promise<T> {
    const folder = this.#folderOf(project)
    const name = hash('sha256', `${credential}\n${key}`)
    const fingerprint = hash('sha256', asks.join('\n'))
    // A queue of our own first: among ourselves, waiting in line beats trying for the lock again and again.
    return this.#turns.take(`${folder}/${name}`, async () => {
      const attempt = (lease: Lease): Promise<T> => this.#attempt(lease, folder, name, fingerprint, work)
      return this.#documents.lease(`${folder}/${name}`, attempt, this.#leasing)
    })
  }

  /** Removes what is past its time, and what dead processes left. */
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

  /** Purges now and every hour, until the function it answers is called. */
  keepPurged(): () => void {
    // A disk that fails here fails the requests that need it too, and they say so.
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
    // What another process has just written is only sure to be seen by the requests of the next turn.
    if (known) await yieldToEventLoop()
    if (known?.result) return work.recall(known.result)
    const intent = known ?? { fingerprint, created_at: this.#now().toISOString(), artifact_id: uuidv7() }
    if (!known) await intentFile.put(lease, path, intent)
    const earlier = known && new Date(known.created_at)
    // Who comes first has nothing to look for.
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
        // The work is done, and noted: without its result the next request finds it, only slower.
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
   * Nobody waits for it. What stays because of a failure goes with the intent, and so does all where a power cut may take the result from it
   * and leave these gone: the request would be carried out again.
   */
  #removeLater(paths: readonly string[]): void {
    if (!this.#documents.isAlwaysDurable) return
    for (const path of paths) void this.#documents.remove(path).catch(() => undefined)
  }

  /** The names of the files that say what earlier attempts decided, also of those that journals are still to make. */
  #decidedFiles(folder: string, name: string): readonly string[] {
    const noted = this.#notes().map((note) => note.slice(note.lastIndexOf('/') + 1))
    return [...(this.#fs.readDir(folder) ?? []), ...noted].filter((file) => file.startsWith(`${name}.`))
  }

  /** The intent, unless its time is over. */
  #readLive(path: string): Intent | undefined {
    const intent = intentFile.read(this.#fs, path)
    if (!intent || this.#now().getTime() - Date.parse(intent.created_at) >= LIFETIME) return undefined
    return intent
  }

  async #purgeFile(folder: string, file: string): Promise<void> {
    const name = /^([0-9a-f]{64})\./.exec(file)?.[1]
    if (name === undefined || file.endsWith('.lock') || !this.#isOld(`${folder}/${file}`)) return
    // Under the lock, because a request may be putting a new intent in its place. A busy one waits for the next round.
    const remove = async (lease: Lease): Promise<void> => {
      for (const path of [`${folder}/${name}.json`, `${folder}/${name}.json.new`, `${folder}/${file}`])
        if (this.#isOld(path)) await lease.remove(path)
    }
    await this.#documents.lease(`${folder}/${name}`, remove, this.#leasing).catch(() => undefined)
  }

  /** An intent is never changed after its time is over, so its file's time is enough. */
  #isOld(path: string): boolean {
    const stat = this.#fs.stat(path)
    return stat !== undefined && this.#now().getTime() - stat.modified > LIFETIME
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

/** What one go at a keyed request asks of what was decided, and tells of what it decides. */
interface AttemptDecisions {
  /** The commits that earlier attempts put on a ref of an artifact (known by the end of its id), or were about to. */
  decidedOn(digits: string, ref: string): readonly DecidedCommit[]
  /** What the journal has to note with a write that puts a commit on a ref; `met` is told to who sends the request again. */
  noteOf(digits: string, ref: string, commit: string, met?: RowCounts): DecisionNote
}

/** What attempts at one keyed request decide: empty files beside its intent, whose names say it. */
class Decisions {
  readonly #folder: string
  readonly #storeDir: string
  readonly #intent: string
  readonly #earlier: readonly string[]
  readonly #own: string[] = []
  #isOver = false

  /** `intent` is the name of the intent's file without its end, `earlier` what was decided by now. */
  constructor(folder: string, storeDir: string, intent: string, earlier: readonly string[]) {
    this.#folder = folder
    this.#storeDir = storeDir
    this.#intent = intent
    this.#earlier = earlier
  }

  /** What the work of the request asks and tells. */
  get attempt(): AttemptDecisions {
    return {
      decidedOn: (digits, ref) => decidedIn(this.#earlier, this.#intent, digits, ref),
      noteOf: (digits, ref, commit, met) =>
        this.#note(decidedFile(this.#intent, { digits, ref, commit, met })),
    }
  }

  /**
   * The result is in the intent, or the request as if it had never been sent: nobody asks what was decided. Answers the files that say it,
   * to be removed.
   */
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

/** That an attempt at a keyed request put a commit on a ref, or was about to: the name of an empty file beside its intent. */
interface Decided {
  /** The last twelve digits of the artifact's id. */
  readonly digits: string
  readonly ref: string
  readonly commit: string
  readonly met?: RowCounts | undefined
}

/** How many rows of the request equal another one (`collapsed`), and how many gave way to a later one (`replaced`). */
interface RowCounts {
  readonly collapsed: number
  readonly replaced: number
}

/**
 * The name of the file; `intent` is that of the intent's, which is a hash of the credential and the key. Names without counts
 * are of requests that bring no rows, and of earlier versions.
 */
function decidedFile(intent: string, { digits, ref, commit, met }: Decided): string {
  const counts = met ? `.${met.collapsed}-${met.replaced}` : ''
  return `${intent}.${digits}.${hash('sha256', ref).slice(0, 16)}.${commit}${counts}.decided`
}

/** A commit that was decided, and what became of the rows that were sent for it. */
interface DecidedCommit {
  readonly commit: string
  readonly met: RowCounts | undefined
}

/** The commits that these files say were decided for a ref. */
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
