import { COMMAND } from '../../command-name.ts'
import { CannotStart, Refusal, DatabaseAway } from '../../errors.ts'
import {
  announceProcess,
  createDurableFolder,
  type Fs,
  type HeldLock,
  LockFile,
  StoreGuard,
} from '../../storage/files.ts'
import { SharedDocuments } from '../documents/shared-documents.ts'
import {
  JOURNAL_FOLDER,
  type Arbiter,
  type DecidedBeside,
  type DecidedElsewhere,
  type DecidedWrite,
  type Decision,
  type Filling,
  type Freshness,
  type LargePack,
  type Seen,
  NameClaimed,
} from '../../git/transactions.ts'
import { PackCache } from '../../git/packs.ts'
import { Store, makeStore, COPY_FOLDER, databaseOf } from '../../git/store.ts'
import { LogFollower } from './log-follower.ts'
import { OwnMoves } from './own-moves.ts'
import { nameDatabase, readPosition } from './folder/position-file.ts'
import { emptyFolder } from './folder/repair.ts'
import type { OpenLog, SharedLog, Outcome, Proposal, ProposedWrite } from './shared-log.ts'
import { RefMoved } from '../../git/refs.ts'
import type { Copy } from './folder/copy.ts'

/**
 * Opens the folder at `dir` as a copy of a shared log, and resolves when it can be served; the rest is filled in the background (see
 * `Store.filling`). Throws CannotStart if another process uses the folder, or it is a copy of something else.
 */
export async function followStore(fs: Fs, dir: string, openLog: OpenLog): Promise<Store> {
  const packs = new PackCache()
  if (fs.stat(`${dir}/format`) && !fs.stat(`${dir}/${COPY_FOLDER}`)) throw foreign(fs, dir)
  // Synced before `format` exists, so that a half-made folder is recognised after a crash.
  await createDurableFolder(fs, `${dir}/${COPY_FOLDER}`)
  await makeStore(fs, dir)
  const liveness = await announceProcess(fs, dir)
  let lock: HeldLock | undefined
  let opened: SharedLog | undefined
  try {
    lock = await takeFolder(fs, dir)
    const { stream, position } = readPosition(fs, dir)
    const log = (opened = await openLog(stream))
    await checkDatabase(fs, dir, log)
    const documents: SharedDocuments = new SharedDocuments({
      fs,
      dir,
      feed: log.documents,
      fresh: () => follower.fresh(),
    })
    const untilPlaced = (): Promise<void> => follower.untilPlaced()
    const copy = { fs, dir, log, packs, own: new OwnMoves(), documents, untilPlaced }
    if (!position) emptyFolder(copy)
    const follower = new LogFollower(copy, position)
    const arbiter = new FollowingArbiter(copy, follower, () => lock?.release())
    await follower.begin()
    const guard = new StoreGuard(fs, `${dir}/format`)
    return new Store({ ...fs, documents }, dir, false, { arbiter, guard, packs, liveness })
  } catch (error) {
    await opened?.close().catch(() => undefined)
    lock?.release()
    liveness.release()
    throw error
  }
}

/** Locks the folder for this process. Until its decisions are in the folder, only this process knows them. */
async function takeFolder(fs: Fs, dir: string): Promise<HeldLock> {
  const folder = `${dir}/${COPY_FOLDER}`
  try {
    return await new LockFile(fs, folder, '').acquire(`${folder}/server.lock`)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'locked') throw error
    throw new CannotStart(
      `Another server uses the folder ${dir} (${folder}/server.lock). Give each server a CACHE_DIR of its own; if that one has died ` +
        `on another host, remove the file.`,
    )
  }
}

async function checkDatabase(fs: Fs, dir: string, log: SharedLog): Promise<void> {
  const database = databaseOf(fs, dir)
  if (database === undefined) return nameDatabase(fs, dir, log.id)
  if (database === log.id) return
  await log.close()
  throw new CannotStart(
    `The folder ${dir} is a copy of the database ${database}, and STORE is the database ${log.id}. Set CACHE_DIR to another folder, or empty this one.`,
  )
}

function foreign(fs: Fs, dir: string): CannotStart {
  const isInUse = (fs.readDir(`${dir}/${JOURNAL_FOLDER}`) ?? []).length > 0
  return new CannotStart(
    `The folder ${dir} holds a store of files${isInUse ? ', which a server may be using' : ''}, and no copy of a database. Set CACHE_DIR to an empty ` +
      `folder; "${COMMAND} backup" and "${COMMAND} restore" take the store over.`,
  )
}

const MAX_DECISIONS_PER_BATCH = 64
const MAX_BYTES_PER_BATCH = 8 * 1024 * 1024

/**
 * Decides writes of servers that share a log: a write has happened once it is in the log. The server's folder is a copy and need not be on
 * disk.
 */
class FollowingArbiter implements Arbiter, DecidedElsewhere {
  /** This arbiter implements `DecidedElsewhere` itself. */
  readonly elsewhere = this
  readonly #copy: Copy
  readonly #follower: LogFollower
  readonly #letGo: () => void
  /** The log's names of large packs that were already staged. */
  readonly #staged = new WeakMap<LargePack, string>()
  #waiting: Waiting[] = []
  #isAppending = false
  /** The batch that is being appended. */
  #appending: Promise<void> = Promise.resolve()

  /** `letGo` is called at the end, to release the folder. */
  constructor(copy: Copy, follower: LogFollower, letGo: () => void) {
    this.#copy = copy
    this.#follower = follower
    this.#letGo = letGo
    follower.untilAppended = () => this.#appending
  }

  get filling(): Filling | undefined {
    return this.#follower.filling
  }

  decide(writes: readonly DecidedWrite[], beside: DecidedBeside = {}): Promise<Decision> {
    const proposal = this.#proposalOf(writes, beside)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ proposal, resolve, reject })
      if (!this.#isAppending) void this.#appendAll()
    })
  }

  admit(write: DecidedWrite): Promise<Decision> {
    return this.decide([write])
  }

  async stageLarge(packs: readonly LargePack[]): Promise<readonly string[]> {
    const { fs, log } = this.#copy
    const staged: string[] = []
    for (const pack of packs) {
      // A write that runs again stages the same packs.
      const known = this.#staged.get(pack) ?? (await log.stagePack(pack.name, readPieces(fs, pack.path)))
      this.#staged.set(pack, known)
      staged.push(known)
    }
    return staged
  }

  async seen(gitdirs: readonly string[]): Promise<Seen> {
    const names = new Map(gitdirs.map((gitdir) => [this.#relative(gitdir), gitdir]))
    const states = await this.#copy.log.versions([...names.keys()])
    // Looks after the versions were read, so what is read next is at least as new.
    await this.fresh()
    return new Map([...names].map(([repository, gitdir]) => [gitdir, states.get(repository) ?? 0]))
  }

  /** Asks the log, because a folder that was filled later has no marks of earlier purges. */
  wasPurged(gitdir: string): Promise<boolean> {
    return this.#copy.log.wasPurged(this.#relative(gitdir))
  }

  fresh(): Promise<void> {
    return this.#follower.fresh()
  }

  readable(): Promise<Freshness> {
    return this.#follower.readable()
  }

  async checkpoint(): Promise<void> {
    this.#follower.save()
  }

  afterReturn(): Promise<void> {
    return this.#follower.repairAll()
  }

  async close(): Promise<void> {
    await this.#appending
    await this.#follower.close()
    await this.#copy.log.close()
    this.#letGo()
  }

  #proposalOf(
    writes: readonly DecidedWrite[],
    { notes = [], moved, purged, needs = [], seen = new Map() }: DecidedBeside,
  ): Proposal {
    return {
      writes: writes.map((write) => this.#proposedWrite(write)),
      needs: needs.map((gitdir) => this.#relative(gitdir)),
      seen: new Map([...seen].map(([gitdir, version]) => [this.#relative(gitdir), version])),
      moved,
      purged: purged && {
        repository: this.#relative(purged.gitdir),
        isRemembered: purged.isRemembered,
      },
      notes: notes.map(({ path }) => path),
    }
  }

  #proposedWrite({ gitdir, moves, pack, large = [], created, claims = [] }: DecidedWrite): ProposedWrite {
    return {
      repository: this.#relative(gitdir),
      moves,
      pack: pack && { name: pack.name, bytes: pack.pack },
      staged: large,
      head: created?.head,
      claims,
    }
  }

  async #appendAll(): Promise<void> {
    this.#isAppending = true
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch()
      // It is unknown whether a failed batch happened; if it did, the next look brings it.
      this.#appending = this.#append(batch).catch((error: unknown) => {
        for (const { reject } of batch) reject(error)
        if (error instanceof DatabaseAway)
          for (const { reject } of this.#waiting.splice(0)) reject(error.behind())
      })
      await this.#appending
    }
    this.#isAppending = false
  }

  #nextBatch(): Waiting[] {
    let bytes = 0
    let count = 0
    for (const { proposal } of this.#waiting) {
      for (const { pack } of proposal.writes) bytes += pack?.bytes.length ?? 0
      if (count > 0 && (count === MAX_DECISIONS_PER_BATCH || bytes > MAX_BYTES_PER_BATCH)) break
      count++
    }
    return this.#waiting.splice(0, count)
  }

  async #append(batch: readonly Waiting[]): Promise<void> {
    const proposals = batch.map(({ proposal }) => proposal)
    const { position, outcomes } = await this.#copy.log.append(proposals)
    const decided = batch.filter((_, index) => isDecided(outcomes[index]))
    for (const [index, { proposal }] of batch.entries()) this.#noteMoves(proposal, outcomes[index])
    const decisions = this.#follower.decided(
      position,
      decided.map(({ proposal }) => proposal.writes.map(({ repository }) => repository)),
    )
    for (const [index, { resolve }] of decided.entries()) {
      const decision = decisions[index]
      if (decision) resolve(decision)
    }
    for (const [index, { reject }] of batch.entries()) {
      const outcome = outcomes[index]
      if (!isDecided(outcome)) reject(refusalOf(outcome))
    }
  }

  #noteMoves({ writes }: Proposal, outcome: Outcome | undefined): void {
    if (!isDecided(outcome)) return
    for (const [index, { repository, moves }] of writes.entries())
      this.#copy.own.add(
        repository,
        outcome.versions[index] ?? 0,
        moves.map(({ ref }) => ref),
      )
  }

  /** The repository's name: its path outside the trash. */
  #relative(gitdir: string): string {
    return gitdir.slice(this.#copy.dir.length + 1).replace('/.trash/', '/')
  }
}

interface Waiting {
  readonly proposal: Proposal
  readonly resolve: (decision: Decision) => void
  readonly reject: (error: unknown) => void
}

function isDecided(outcome: Outcome | undefined): outcome is Extract<Outcome, { versions: unknown }> {
  return outcome !== undefined && 'versions' in outcome
}

function refusalOf(outcome: Outcome | undefined): Error {
  if (!outcome || !('refused' in outcome)) return new Error('the log answered less than it was asked')
  const { refused, what } = outcome
  return refused === 'claimed' ? new NameClaimed(what) : new RefMoved(`${what} moved elsewhere`)
}

const BYTES_PER_PIECE = 1024 * 1024

/** The content of a file, read piece by piece. */
async function* readPieces(fs: Fs, path: string): AsyncGenerator<Buffer> {
  const handle = fs.open(path)
  if (!handle) throw new Error(`${path} is gone`)
  try {
    for (let position = 0; position < handle.size;) {
      const piece = Buffer.allocUnsafe(Math.min(BYTES_PER_PIECE, handle.size - position))
      const length = handle.read(piece, position)
      if (length === 0) throw new Error(`${path} is shorter than it was`)
      position += length
      yield piece.subarray(0, length)
    }
  } finally {
    handle.close()
  }
}
