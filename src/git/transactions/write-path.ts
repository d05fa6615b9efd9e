import { counts } from '../../metrics/counters.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { Fs } from '../../storage/fs.ts'
import type { PackableObject, StagedPack } from '../packs/pack-writer.ts'
import { stageObjects } from '../packs/streaming-pack-writer.ts'
import { RefLocks } from '../refs/ref-locks.ts'
import { type RefMove, RefMoved } from '../refs/ref-move.ts'
import type { RefReader } from '../refs/ref-store.ts'
import { isFenced, untilUnfenced } from '../trash/fence.ts'
import { unlessGone } from '../trash/gone.ts'
import type { Arbiter, DecidedWrite, Decision } from './arbiter.ts'
import type { Draft, RepositoryDisk } from './transaction.ts'
import { Refusal } from '../../errors.ts'
import { refPath } from '../refs/ref-store.ts'

/** What was worked out for a repository on what was there when it was looked at. */
export interface DraftedWrite extends RepositoryDisk {
  readonly draft: Pick<Draft, 'moves' | 'objects' | 'packs' | 'notes' | 'claims' | 'needs' | 'required'>
}

/**
 * The write path: stage → lock → compare → decide → publish → release (docs/write-path.md). Puts what was drafted for one or several
 * repositories on the disk: all of it or nothing, also when the process is killed or the power fails. The repositories come in the
 * order of their folders, the same for all writers. Throws RefMoved if another writer was faster anywhere: nothing was moved, work it
 * out again.
 */
export async function commitDrafts(arbiter: Arbiter, drafts: readonly DraftedWrite[]): Promise<void> {
  const writes: Write[] = []
  let decision: Decision | undefined
  try {
    for (const drafted of drafts) await stage(arbiter, drafted, writes)
    if (writes.length === 0) return
    await lock(writes)
    for (const write of writes) await compare(write)
    decision = await decide(arbiter, writes)
    await publish(writes, decision)
    decision.complete()
  } catch (error) {
    await giveUp(arbiter, writes, decision, error)
    throw drafts.reduce((why: unknown, { fs, gitdir }) => unlessGone(why, fs, gitdir), error)
  }
  for (const write of writes) release(write)
}

/** A draft on its way to the disk. */
interface Write extends DraftedWrite {
  readonly moves: readonly RefMove[]
  readonly written: readonly PackableObject[]
  /** Holds what is written. */
  readonly pack: StagedPack | undefined
  /** Those that are on the disk, under names that nobody sees: they are too large for the decision … */
  readonly large: readonly StagedPack[]
  /** … and what the arbiter calls them. */
  largeNames: readonly string[]
  readonly locks: RefLocks
}

/** Makes one pack of a draft's objects. A small one stays in memory. */
async function stage(arbiter: Arbiter, drafted: DraftedWrite, writes: Write[]): Promise<void> {
  const { fs, gitdir, draft } = drafted
  const moves = draft.moves()
  if (moves.length === 0) return
  // Also what the repository has already: a copy in the newest pack cannot be pruned, and costs less than looking for it.
  const written = [...draft.objects.values()]
  const pack = await stageObjects(fs, gitdir, written)
  const large = pack && !pack.bytes ? [pack, ...draft.packs] : [...draft.packs]
  const locks = new RefLocks(fs, gitdir, moves, arbiter.shared?.finishFor)
  const write: Write = { ...drafted, moves, written, pack, large, largeNames: [], locks }
  writes.push(write)
  if (large.length > 0) write.largeNames = (await arbiter.elsewhere?.stageLarge(large)) ?? []
}

/** Takes git's lock on every ref. A fence is looked for only now: see fence.ts. */
async function lock(writes: readonly Write[]): Promise<void> {
  for (const { locks } of writes) await locks.take()
  const fenced = writes.find(({ fs, gitdir }) => isFenced(fs, gitdir))
  if (fenced) throw new Fenced(fenced)
}

/** Somebody keeps all writers from a repository. */
class Fenced extends RefMoved {
  readonly write: Write

  constructor(write: Write) {
    super('the repository is being moved')
    this.write = write
  }
}

/** Under the locks: each ref holds what the draft was worked out on, what the draft requires holds, and git could make the ref. */
async function compare({ fs, gitdir, refs, moves, draft }: Write): Promise<void> {
  const slice = new TimeSlice()
  await slice.each(moves, ({ ref, expected }) => {
    if (ref !== 'HEAD' && refs.current(ref) !== expected) throw new RefMoved(`${ref} moved meanwhile`)
  })
  let packed: ReadonlyMap<string, string> | undefined
  await slice.each(moves, (move) => {
    if (move.target === undefined) return
    const isKnown = move.expected !== undefined && fs.stat(refPath(gitdir, move.ref))?.kind !== 'folder'
    if (!isKnown) assertNoRefNameConflict(fs, gitdir, move, (packed ??= packedFolders(fs, gitdir)))
  })
  if (!draft.required.every((holds) => holds())) throw new RefMoved('what the write needs has gone')
}

/** Has the arbiter decide: before it answers nothing happened, after it everything did. */
async function decide(arbiter: Arbiter, writes: readonly Write[]): Promise<Decision> {
  // What is not in the decision itself has to be on the disk before it.
  for (const pack of writes.flatMap(({ large }) => large)) {
    pack.publish()
    await pack.syncNames()
  }
  const deciding = arbiter.decide(writes.map(decidedWrite), {
    notes: writes.flatMap(({ draft }) => draft.notes),
    needs: writes.flatMap(({ draft }) => draft.needs),
  })
  // Making files takes about as long as the decision, which another thread or another machine works on.
  let failure: unknown
  try {
    for (const { pack } of writes) pack?.write()
  } catch (error) {
    failure = error
  }
  const decision = await deciding
  try {
    if (failure !== undefined) throw failure
    for (const { pack } of writes) pack?.publish()
  } catch (error) {
    await decision.withdraw()
    throw error
  }
  return decision
}

function decidedWrite({ gitdir, refs, moves, draft, pack, largeNames }: Write): DecidedWrite {
  const decided = moves.map(({ ref, expected, target }) => ({
    ref,
    expected: ref === 'HEAD' ? headNow(refs) : expected,
    target,
  }))
  return { gitdir, moves: decided, pack: pack?.bytes, large: largeNames, claims: draft.claims }
}

/** What HEAD holds, which is not compared: by that it is told after a power cut whether somebody set it elsewhere since. */
function headNow(refs: RefReader): string | undefined {
  const { head } = refs.snapshot()
  return head === undefined ? undefined : `ref: ${head}`
}

/** Moves the refs, which shows the write to everybody. A disk that fails before the first of them has the write withdrawn. */
async function publish(writes: readonly Write[], decision: Decision): Promise<void> {
  try {
    await moveRefs(writes)
  } catch (error) {
    if (!writes.some(({ locks }) => locks.hasMoved)) {
      await decision.withdraw()
      throw error
    }
    // Half of it is in place: a disk that failed once may do the rest now.
    await moveRefs(writes)
  }
  for (const { refs, moves } of writes) refs.apply(moves)
}

/**
 * The refs of truth first: whoever sees a ref that follows from one sees it, too. Of these the last repository's first: environments,
 * which point at the others, come before them in every order, and are to point at what is there. Refs that go are deleted last.
 */
async function moveRefs(writes: readonly Write[]): Promise<void> {
  for (const { locks } of writes.toReversed()) await locks.set(({ follows }) => !follows)
  for (const { locks } of writes) await locks.set(({ follows }) => follows)
  for (const { locks } of writes) if (locks.removals.length > 0) await locks.removeRefs()
}

/**
 * Lets go of everything. If the disk kept failing when some of the refs had moved, the locks on the others are left: nobody shall move
 * them elsewhere before the write is finished, which whoever takes them over does first, or the next start (see finishWrites).
 */
async function giveUp(
  arbiter: Arbiter,
  writes: readonly Write[],
  decision: Decision | undefined,
  error: unknown,
): Promise<void> {
  const isHalfDone = writes.some(({ locks }) => locks.hasMoved)
  for (const { locks } of writes) isHalfDone ? locks.abandon() : locks.release()
  const isKept = decision?.keep() === true
  if (!isKept) for (const { pack } of writes) pack?.discard()
  if (!(error instanceof Fenced)) return
  const { fs, gitdir } = error.write
  await untilUnfenced(fs, gitdir, arbiter.shared?.finishFor)
}

/** The refs have moved, which has ended their locks. */
function release({ large, written, objects }: Write): void {
  for (const pack of large) pack.release()
  objects.remember(written)
  for (const { kind } of written) if (kind === 'commit') counts.commits++
}

/**
 * git lets no ref have the name of a folder of refs. Folders that hold none, which git leaves behind, are removed; a ref that
 * would hide others is refused with `slug_taken`, naming one of them.
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

/** False if somebody put something into them meanwhile. */
function removeEmptyFolders(fs: Fs, folder: string): boolean {
  const names = fs.readDir(folder) ?? []
  return names.every((name) => removeEmptyFolders(fs, `${folder}/${name}`)) && fs.removeFolder(folder)
}

/** The path of some file in the folder, seen from it. */
function firstFile(fs: Fs, folder: string): string | undefined {
  for (const name of fs.readDir(folder) ?? []) {
    if (fs.stat(`${folder}/${name}`)?.kind !== 'folder') return name
    const deeper = firstFile(fs, `${folder}/${name}`)
    if (deeper !== undefined) return `${name}/${deeper}`
  }
  return undefined
}

/** Of each folder of packed refs some ref below it. */
function packedFolders(fs: Fs, gitdir: string): ReadonlyMap<string, string> {
  const folders = new Map<string, string>()
  for (const line of fs.readFile(`${gitdir}/packed-refs`)?.toString('utf8').split('\n') ?? []) {
    const name = line.slice(line.indexOf(' ') + 1)
    // Once a folder is known, so are those above it.
    for (
      let at = name.lastIndexOf('/');
      at > 0 && !folders.has(name.slice(0, at));
      at = name.lastIndexOf('/', at - 1)
    )
      folders.set(name.slice(0, at), name)
  }
  return folders
}
