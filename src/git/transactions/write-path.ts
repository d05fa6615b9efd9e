import { counts } from '../../base/counters.ts'
import { Refusal } from '../../errors.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { type Fs, type BeforeTakeOver, type HeldLock, LockFile } from '../../storage/files.ts'
import type { ObjectDatabase } from '../objects/object-database.ts'
import type { Oid } from '../objects/object.ts'
import { type PackableObject, StagedPack, areMany, encodePack, stageSynced } from '../packs/pack-writer.ts'
import { stageMany } from '../packs/streaming-pack-writer.ts'
import type { StagedPackedRefs } from '../refs/packed-refs.ts'
import { rewritePackedRefs } from '../refs/packed-refs.ts'
import { type RefMove, RefMoved } from '../refs/ref-move.ts'
import type { RefReader } from '../refs/ref-store.ts'
import { assertRef, refPath } from '../refs/ref-store.ts'
import { FENCE, untilUnfenced } from '../trash/fence.ts'
import { unlessGone } from '../trash/gone.ts'
import type { Arbiter, DecidedMove, DecidedWrite, Decision, DecisionNote, NameClaim } from './arbiter.ts'

/** A planned write to a repository, on the refs as they were at a look. */
export interface DraftedWrite {
  readonly repository: WrittenRepository
  readonly draft: Drafted
}

/** A repository as the write path knows it. */
export interface WrittenRepository {
  readonly fs: Fs
  readonly path: string
  readonly objects: ObjectDatabase
  readonly refs: RefReader
}

/** What a write shall do. */
export interface Drafted {
  /** Every ref that moves, with its old value. */
  moves(): readonly RefMove[]
  readonly objects: ReadonlyMap<Oid, PackableObject>
  /** A pack that is staged on the disk already. */
  readonly packs: ReadonlySet<StagedPack>
  readonly notes: readonly DecisionNote[]
  readonly claims: readonly NameClaim[]
  /** Refs that must have these values when the write is decided … */
  readonly required: readonly (() => boolean)[]
  /** … and folders of repositories that must exist. */
  readonly needs: readonly string[]
}

/**
 * The write path: stage → lock → compare → decide → publish → release (docs/write-path.md). Stores drafts for one or several repositories: all of
 * them or none, even if the process is killed or the power fails. The repositories are in the order of their folders, the same for all writers.
 * Throws RefMoved if another writer moved one of the refs first: then nothing was stored, and the write has to be worked out again.
 */
export async function commitDrafts(arbiter: Arbiter, drafts: readonly DraftedWrite[]): Promise<void> {
  const writes: Write[] = []
  let decision: Decision | undefined
  try {
    for (const drafted of drafts) await stage(arbiter, drafted, writes)
    if (writes.length === 0) return
    for (const { locks } of writes) await locks.take()
    const decided: DecidedWrite[] = []
    for (const write of writes) decided.push(await compare(write))
    // Large packs have to be on the disk before the decision, because its record does not contain them.
    for (const { large } of writes) for (const pack of large) await publishSynced(pack)
    decision = await arbiter.decide(decided, {
      notes: writes.flatMap(({ draft }) => draft.notes),
      needs: writes.flatMap(({ draft }) => draft.needs),
    })
    await publish(writes, decision)
    decision.complete()
  } catch (error) {
    throw await giveUp(arbiter, drafts, writes, decision, error)
  }
}

/** A draft on its way to the disk. */
interface Write extends DraftedWrite {
  readonly moves: readonly RefMove[]
  readonly written: readonly PackableObject[]
  /** Holds what is written. */
  readonly pack: StagedPack | undefined
  /** Packs that are on the disk under temporary names, because they are too large for the record of the decision … */
  readonly large: readonly StagedPack[]
  /** … and their names for the arbiter. */
  largeNames: readonly string[]
  readonly locks: RefLocks
}

/** Makes one pack of a draft's objects. A small one stays in memory. */
async function stage(arbiter: Arbiter, { repository, draft }: DraftedWrite, writes: Write[]): Promise<void> {
  const moves = draft.moves()
  if (moves.length === 0) return
  const { fs, path } = repository
  // This includes objects that the repository has already: git cannot prune a copy in the newest pack, and the copy costs less than looking for
  // it.
  const written = [...draft.objects.values()]
  const pack = await stageObjects(fs, path, written)
  const large = pack && !pack.bytes ? [pack, ...draft.packs] : [...draft.packs]
  const locks = new RefLocks(fs, path, moves, arbiter.shared?.finishFor)
  const write: Write = { repository, draft, moves, written, pack, large, largeNames: [], locks }
  writes.push(write)
  if (large.length > 0) write.largeNames = (await arbiter.elsewhere?.stageLarge(large)) ?? []
}

/** A pack larger than this is synced itself, rather than written a second time into a journal. */
const LARGEST_IN_DECISION = 256 * 1024

/** Makes one pack of objects for a repository: a small one in memory, a large one on the disk when this resolves. Undefined without objects. */
export async function stageObjects(
  fs: Fs,
  gitdir: string,
  objects: readonly PackableObject[],
): Promise<StagedPack | undefined> {
  if (areMany(objects)) return stageMany(fs, gitdir, objects)
  if (objects.length === 0) return undefined
  const pack = encodePack(objects)
  return pack.pack.length > LARGEST_IN_DECISION
    ? stageSynced(fs, gitdir, pack)
    : new StagedPack(fs, gitdir, pack)
}

/** A fence keeps all writers from the repository. */
class Fenced extends RefMoved {
  readonly write: Write

  constructor(write: Write) {
    super('the repository is being moved')
    this.write = write
  }
}

/**
 * Called under the locks. Checks that no fence is up (see fence.ts), that each ref has the value on which the draft was worked out, that the
 * draft's requirements hold, and that git could make the ref. Answers the record to be decided.
 */
async function compare(write: Write): Promise<DecidedWrite> {
  const { draft, pack, largeNames } = write
  const { fs, path, refs } = write.repository
  if (fs.stat(`${path}/${FENCE}.lock`)) throw new Fenced(write)
  const slice = new TimeSlice()
  const moves: DecidedMove[] = []
  const unknown: Pick<RefMove, 'ref' | 'expected'>[] = []
  for (const { ref, expected, target } of write.moves) {
    if (ref !== 'HEAD' && refs.current(ref) !== expected) throw new RefMoved(`${ref} moved meanwhile`)
    const isKnown = expected !== undefined && fs.stat(refPath(path, ref))?.kind !== 'folder'
    if (target !== undefined && !isKnown) unknown.push({ ref, expected })
    moves.push({ ref, expected: ref === 'HEAD' ? headNow(refs) : expected, target })
    await slice.pause()
  }
  if (unknown.length > 0) await assertNoRefNameConflicts(fs, path, unknown)
  for (const holds of draft.required) if (!holds()) throw new RefMoved('what the write needs has gone')
  return { gitdir: path, moves, pack: pack?.bytes, large: largeNames, claims: draft.claims }
}

async function publishSynced(pack: StagedPack): Promise<void> {
  pack.publish()
  await pack.syncNames()
}

/** The value of HEAD, which is not compared. After a power cut it shows whether another process has set HEAD since. */
function headNow(refs: RefReader): string | undefined {
  const { head } = refs.snapshot()
  return head === undefined ? undefined : `ref: ${head}`
}

/** Puts packs in place and moves the refs. This shows the write to everybody, and releases the locks. */
async function publish(writes: readonly Write[], decision: Decision): Promise<void> {
  try {
    for (const { pack } of writes) pack?.write()
    for (const { pack } of writes) pack?.publish()
    await moveRefs(writes)
  } catch (error) {
    await moveOthers(writes, decision, error)
  }
  for (const { repository, moves, large, written } of writes) {
    for (const pack of large) pack.release()
    repository.refs.apply(moves)
    repository.objects.remember(written)
    for (const { kind } of written) if (kind === 'commit') counts.commits++
  }
}

/**
 * The deciding refs first, so that nobody sees a derived ref without its deciding ref. Among the deciding ones, those of the last repository
 * first: environments, which point at the others, come earlier in the order, and must never point at a missing revision. Refs are deleted last.
 */
async function moveRefs(writes: readonly Write[]): Promise<void> {
  for (const { locks } of writes.toReversed()) await locks.set(false)
  for (const { locks } of writes) await locks.set(true)
  for (const { locks } of writes) if (locks.removals.length > 0) await locks.removeRefs()
}

/** If the disk fails before the first ref has moved, the write is withdrawn. If some refs have moved, this tries to move the others now. */
async function moveOthers(writes: readonly Write[], decision: Decision, error: unknown): Promise<void> {
  if (writes.some(({ locks }) => locks.hasMoved)) return moveRefs(writes)
  await decision.withdraw()
  throw error
}

/** With this many refs or more, their locks share owner files. */
const MANY_REFS = 64

/** The locks on the refs of one repository that are about to move. */
export class RefLocks {
  readonly #fs: Fs
  readonly #gitdir: string
  readonly #beforeTakeOver: BeforeTakeOver | undefined
  readonly #moves: readonly RefMove[]
  /** Those that shall be deleted. */
  readonly removals: readonly RefMove[]
  /** Grouped by the content of the lock files. */
  readonly #shared = new Map<string, LockFile>()
  readonly #held = new Map<RefMove, HeldLock>()
  #packedLock: HeldLock | undefined
  #packed: StagedPackedRefs | undefined
  #isPackedPublished = false
  /** Whether any of the refs has moved. */
  hasMoved = false

  constructor(fs: Fs, gitdir: string, moves: readonly RefMove[], beforeTakeOver?: BeforeTakeOver) {
    this.#fs = fs
    this.#gitdir = gitdir
    this.#beforeTakeOver = beforeTakeOver
    // Ordered by name, so that two writers never wait for each other.
    this.#moves = moves.toSorted((a, b) => (a.ref < b.ref ? -1 : 1))
    this.removals = this.#moves.filter(({ target }) => target === undefined)
  }

  /** Takes every lock. To delete a ref, it also takes the lock of `packed-refs`, after the others, as git does. */
  async take(): Promise<void> {
    const isMany = this.#moves.length >= MANY_REFS
    const slice = new TimeSlice()
    for (const move of this.#moves) {
      const { ref, target } = move
      if (target !== undefined) assertRef(ref, target)
      const content = target === undefined ? '' : `${target}\n`
      const path = `${refPath(this.#gitdir, ref)}.lock`
      const lock = isMany
        ? this.#lockShared(path, content)
        : new LockFile(this.#fs, this.#gitdir, content, this.#beforeTakeOver).acquire(path)
      this.#held.set(move, await lock)
      await slice.pause()
    }
    if (this.removals.length > 0) await this.#takePacked()
  }

  async #takePacked(): Promise<void> {
    this.#packedLock = await new LockFile(this.#fs, this.#gitdir, '', this.#beforeTakeOver).acquire(
      `${this.#gitdir}/packed-refs.lock`,
    )
    const names = this.removals.map(({ ref }) => ref)
    this.#packed = await rewritePackedRefs(this.#fs, this.#gitdir, names)
  }

  /** Moves the derived refs, or the deciding ones, to their targets. */
  async set(follows: boolean): Promise<void> {
    const slice = new TimeSlice()
    for (const [move, lock] of this.#held) {
      if (move.target === undefined || move.follows !== follows) continue
      lock.publish(refPath(this.#gitdir, move.ref))
      this.#held.delete(move)
      this.hasMoved = true
      await slice.pause()
    }
  }

  /**
   * Deletes refs. Their packed lines are removed first and synced, so that neither a reader nor a power cut uncovers an older value behind a loose
   * file. `packed-refs` stays locked until the loose files are gone, because `git pack-refs` might pack them again. Call it again if the disk
   * failed.
   */
  async removeRefs(): Promise<void> {
    if (this.#packed) {
      if (!this.#isPackedPublished) this.#packed.publish()
      this.#isPackedPublished = true
      this.hasMoved = true
      await this.#fs.syncDir(this.#gitdir)
      this.#packed = undefined
    }
    for (const move of this.removals) {
      const path = refPath(this.#gitdir, move.ref)
      if (move.expected !== undefined && this.#fs.stat(path)?.kind === 'file') {
        this.#fs.remove(path)
        this.hasMoved = true
      }
      letGo(this.#held.get(move))
      this.#held.delete(move)
    }
    letGo(this.#packedLock)
    this.#packedLock = undefined
  }

  /** Leaves the remaining locks to the next writer, which finishes this write first. */
  abandon(): void {
    for (const lock of this.#held.values()) lock.abandon()
    this.#packedLock?.abandon()
  }

  /** Releases the remaining locks. */
  release(): void {
    for (const lock of this.#held.values()) lock.release()
    this.#packedLock?.release()
    this.#packed?.discard()
  }

  /** If very many refs move to one commit, their locks share an owner file: making links is faster than making files. */
  async #lockShared(path: string, content: string): Promise<HeldLock> {
    const shared = this.#shared.get(content) ?? this.#share(content)
    try {
      return await shared.acquire(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EMLINK') throw error // A file system throws nothing else.
      return this.#share(content).acquire(path)
    }
  }

  #share(content: string): LockFile {
    const lock = new LockFile(this.#fs, this.#gitdir, content, this.#beforeTakeOver, true)
    this.#shared.set(content, lock)
    return lock
  }
}

/** The ref is gone, so a failure here must not look like a failed write. The next start removes what stays. */
function letGo(lock: HeldLock | undefined): void {
  try {
    lock?.release()
  } catch {
    // See above.
  }
}

/**
 * Releases all locks. If the disk kept failing after some of the refs had moved, the locks on the others stay: nobody may move those refs before
 * the write is finished. The next writer of them does that first, or the next start (see finishWrites). Answers the error to throw.
 */
async function giveUp(
  arbiter: Arbiter,
  drafts: readonly DraftedWrite[],
  writes: readonly Write[],
  decision: Decision | undefined,
  error: unknown,
): Promise<unknown> {
  const isHalfDone = writes.some(({ locks }) => locks.hasMoved)
  for (const { locks } of writes) isHalfDone ? locks.abandon() : locks.release()
  const isKept = decision?.keep() === true
  if (!isKept) for (const { pack } of writes) pack?.discard()
  if (error instanceof Fenced) {
    const { fs, path } = error.write.repository
    await untilUnfenced(fs, path, arbiter.shared?.finishFor)
  }
  return drafts.reduce((why: unknown, { repository: { fs, path } }) => unlessGone(why, fs, path), error)
}

/** Checks this for refs that are new, or whose path is a folder. */
async function assertNoRefNameConflicts(
  fs: Fs,
  gitdir: string,
  moves: readonly Pick<RefMove, 'ref' | 'expected'>[],
): Promise<void> {
  const slice = new TimeSlice()
  const packed = packedFolders(fs, gitdir)
  await slice.each(moves, (move) => assertNoRefNameConflict(fs, gitdir, move, packed))
}

/**
 * Git does not allow a ref with the name of a folder of refs. Removes empty folders, which git leaves behind. Refuses a ref that would hide others
 * with `slug_taken`, naming one of them.
 */
function assertNoRefNameConflict(
  fs: Fs,
  gitdir: string,
  { ref, expected }: Pick<RefMove, 'ref' | 'expected'>,
  packed: ReadonlyMap<string, string>,
): void {
  const path = refPath(gitdir, ref)
  const kind = fs.stat(path)?.kind
  const isFolder = kind === 'folder'
  if (kind !== undefined && !isFolder && expected === undefined && ref !== 'HEAD') {
    throw new Refusal(
      'slug_taken',
      `${ref} cannot be made: it is a symbolic ref in this repository. Choose another slug, or remove it with git symbolic-ref -d.`,
      { conflict: { slug: ref.slice(ref.lastIndexOf('/') + 1) } },
    )
  }
  const below =
    (isFolder ? firstFile(fs, path) : undefined) ??
    (expected === undefined ? packed.get(ref)?.slice(ref.length + 1) : undefined)
  if (below !== undefined) {
    const name = `${ref}/${below}`
    throw new Refusal(
      'slug_taken',
      `${ref} cannot be made: git keeps ${name} in this repository, and no ref may have the name of another's folder. ` +
        `Choose another slug, or rename that one with git.`,
      { conflict: { slug: ref.slice(ref.lastIndexOf('/') + 1) } },
    )
  }
  if (isFolder && !removeEmptyFolders(fs, path))
    assertNoRefNameConflict(fs, gitdir, { ref, expected }, packed)
}

/** False if another process has just put something into them. */
function removeEmptyFolders(fs: Fs, folder: string): boolean {
  const names = fs.readDir(folder) ?? []
  return names.every((name) => removeEmptyFolders(fs, `${folder}/${name}`)) && fs.removeFolder(folder)
}

/** The path of one file in the folder, relative to it. */
function firstFile(fs: Fs, folder: string): string | undefined {
  for (const name of fs.readDir(folder) ?? []) {
    if (fs.stat(`${folder}/${name}`)?.kind !== 'folder') return name
    const deeper = firstFile(fs, `${folder}/${name}`)
    if (deeper !== undefined) return `${name}/${deeper}`
  }
  return undefined
}

/** One ref below each folder of packed refs. */
function packedFolders(fs: Fs, gitdir: string): ReadonlyMap<string, string> {
  const folders = new Map<string, string>()
  for (const line of fs.readFile(`${gitdir}/packed-refs`)?.toString('utf8').split('\n') ?? []) {
    const name = line.slice(line.indexOf(' ') + 1)
    // If a folder is known, so are the folders above it.
    for (
      let at = name.lastIndexOf('/');
      at > 0 && !folders.has(name.slice(0, at));
      at = name.lastIndexOf('/', at - 1)
    )
      folders.set(name.slice(0, at), name)
  }
  return folders
}
