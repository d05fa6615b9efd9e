import { Refusal } from '../../errors.ts'
import type { FileStat, Fs } from '../../storage/files.ts'
import type { Oid } from '../objects/object.ts'
import { readEpoch } from '../../base/scheduling.ts'

/** The folders of refs that a snapshot covers; refs elsewhere (remotes, deeper names) are left alone. */
export const REF_FOLDERS = ['refs/heads', 'refs/tags', 'refs/meta', 'refs/environments'] as const

/** The folder of refs that are asked for by name, and so seldom that a look does not pay for them. */
export const NOTES_FOLDER = 'refs/notes'

/** What the refs of a repository were at one moment. The same object is answered as long as nothing changed. */
export interface RefSnapshot {
  /** Full ref names (`refs/heads/main`) to object ids. */
  readonly refs: ReadonlyMap<string, Oid>
  /** The ref that HEAD points at, existing or not; undefined if HEAD is detached. */
  readonly head: string | undefined
}

/**
 * Reads the refs of one bare repository, loose and packed, and notices by folder times what changed since the last look:
 * git, other servers and we ourselves move a ref by creating a lock beside it and renaming it, which always touches the
 * folder. (gitrepository-layout(5), git-pack-refs(1).)
 */
export class RefReader {
  readonly #fs: Fs
  readonly #gitdir: string
  /** What was seen of each of the ref folders; undefined for one that was not there. */
  #loose: readonly (Seen<ReadonlyMap<string, Oid>> | undefined)[] = []
  /** `refs` itself, which tells of folders that come and go. */
  #folders: Stamp | undefined
  #top: Seen<TopFiles> | undefined
  #snapshot: RefSnapshot | undefined
  #turn: number | undefined

  /** With what another reader saved, it looks only at what has changed since. */
  constructor(fs: Fs, gitdir: string, saved?: SavedRefs) {
    this.#fs = fs
    this.#gitdir = gitdir
    if (saved) this.#restore(saved)
  }

  /**
   * What is seen of the refs now, for another reader to begin with; undefined while they were moved so recently that another move could
   * bear the same times.
   */
  save(): SavedRefs | undefined {
    this.snapshot()
    const top = this.#top
    if (!top) return undefined
    const seen = stampsText([this.#folders, ...REF_FOLDERS.map((_, at) => this.#loose[at]?.stamp), top.stamp])
    const stamps = repositoryStamps(this.#fs, this.#gitdir)
    if (seen === undefined || !stamps?.startsWith(`${seen} `)) return undefined
    const { packed, packedNotes, head } = top.value
    const loose = REF_FOLDERS.map((_, at) => [...(this.#loose[at]?.value ?? [])])
    return { stamps, head: head ?? null, packed: [...packed], packedNotes: [...packedNotes], loose }
  }

  #restore({ stamps, head, packed, packedNotes, loose }: SavedRefs): void {
    const [folders, ...seen] = stamps.split(' ').map(stampIn)
    this.#folders = folders
    this.#loose = REF_FOLDERS.map((_, at) => {
      const stamp = seen[at]
      return stamp && { stamp, value: new Map(loose[at]) }
    })
    const value = { packed: new Map(packed), packedNotes: new Map(packedNotes), head: head ?? undefined }
    this.#top = { stamp: seen[REF_FOLDERS.length] ?? ABSENT, value }
    this.#snapshot = this.#merge(undefined)
  }

  /** The refs as they are now, looked at once for all requests that came in together (see readEpoch). */
  shared(): RefSnapshot {
    const turn = readEpoch()
    if (this.#snapshot && this.#turn === turn) return this.#snapshot
    const snapshot = this.snapshot()
    this.#turn = turn
    return snapshot
  }

  /** The refs as they are now; costs one stat a folder that is there when nothing changed. Refuses a damaged ref file by name. */
  snapshot(): RefSnapshot {
    // Loose before packed: `git pack-refs` writes the packed file before it removes a loose one, so nothing is missed.
    const folders = stampOf(this.#fs.stat(`${this.#gitdir}/refs`))
    const areSame = this.#folders !== undefined && isSame(this.#folders, folders)
    const loose = REF_FOLDERS.map((folder, number) => {
      const seen = this.#loose[number]
      return areSame && !seen ? undefined : this.#lookInto(folder, seen)
    })
    const changed = !areSame || loose.some((seen, number) => seen !== this.#loose[number])
    if (changed) {
      this.#loose = loose
      this.#folders = folders
    }
    const top = this.#top
    this.#packedAndHead()
    if (changed || this.#top !== top || !this.#snapshot) this.#snapshot = this.#merge(this.#snapshot)
    return this.#snapshot
  }

  /** One ref as it is now, looked at afresh. */
  current(ref: string): Oid | undefined {
    // Loose before packed, as above.
    const loose = this.#readLoose(refPath(this.#gitdir, ref))
    if (loose !== undefined) return loose
    const { packed, packedNotes } = this.#packedAndHead()
    return packed.get(ref) ?? packedNotes.get(ref)
  }

  /** The refs after these moves of ours, without a look: what others moved meanwhile shows with the next one. */
  apply(moves: Iterable<{ readonly ref: string; readonly target: string | undefined }>): void {
    const { refs, head } = this.#snapshot ?? this.snapshot()
    const moved = new Map(refs)
    let movedHead = head
    for (const { ref, target } of moves) {
      if (target === undefined) moved.delete(ref)
      else if (ref === 'HEAD') movedHead = branchIn(target)
      else moved.set(ref, target)
    }
    this.#snapshot = { refs: moved, head: movedHead }
  }

  /** The snapshot that was looked at or applied last. */
  get latest(): RefSnapshot {
    return this.#snapshot ?? this.snapshot()
  }

  #packedAndHead(): TopFiles {
    const stamp = stampOf(this.#fs.stat(this.#gitdir))
    if (this.#top && isSame(this.#top.stamp, stamp)) return this.#top.value
    const { packed, packedNotes } = this.#readPacked()
    const value = { packed, packedNotes, head: this.#readHead() }
    this.#top = { stamp, value }
    return value
  }

  #merge(previous: RefSnapshot | undefined): RefSnapshot {
    const packed = this.#top?.value.packed ?? NO_REFS
    const head = this.#top?.value.head
    // Of very many repositories most have packed refs only, and need no second map of them.
    let loose: Map<string, Oid> | undefined
    for (const seen of this.#loose)
      for (const [name, oid] of seen?.value ?? []) (loose ??= new Map(packed)).set(name, oid)
    const refs = loose ?? packed
    return previous && previous.head === head && isSameMap(previous.refs, refs) ? previous : { refs, head }
  }

  #lookInto(folder: string, seen: Seen<ReadonlyMap<string, Oid>> | undefined): typeof seen {
    const stat = this.#fs.stat(`${this.#gitdir}/${folder}`)
    if (!stat) return undefined
    const stamp = stampOf(stat)
    return seen && isSame(seen.stamp, stamp) ? seen : { stamp, value: this.#readFolder(folder) }
  }

  #readFolder(folder: string): ReadonlyMap<string, Oid> {
    const refs = new Map<string, Oid>()
    for (const name of this.#fs.readDir(`${this.#gitdir}/${folder}`) ?? []) {
      if (name.endsWith('.lock')) continue
      const path = `${this.#gitdir}/${folder}/${name}`
      const oid = this.#readLoose(path)
      if (oid) refs.set(`${folder}/${name}`, oid)
    }
    return refs
  }

  /** Undefined for what is no ref of ours: a folder of deeper names, a symbolic ref, a file that vanished meanwhile. */
  #readLoose(path: string): Oid | undefined {
    const text = this.#fs.readFile(path)?.toString('utf8')
    if (text === undefined || text.startsWith('ref:')) return undefined
    const oid = /^([0-9a-f]{40})\s*$/.exec(text)?.[1]
    if (!oid) throw damagedRef(path)
    return oid
  }

  #readPacked(): Pick<TopFiles, 'packed' | 'packedNotes'> {
    const packed = new Map<string, Oid>()
    let packedNotes: Map<string, Oid> | undefined
    const path = `${this.#gitdir}/packed-refs`
    for (const line of this.#fs.readFile(path)?.toString('utf8').split('\n') ?? []) {
      if (line === '' || line.startsWith('#') || line.startsWith('^')) continue
      const [, oid, name] = /^([0-9a-f]{40}) (\S+)$/.exec(line) ?? []
      if (!oid || !name) throw damagedRef(path)
      if (REF_FOLDERS.some((folder) => isDirectlyIn(name, folder))) packed.set(name, oid)
      else if (isDirectlyIn(name, NOTES_FOLDER)) (packedNotes ??= new Map<string, Oid>()).set(name, oid)
    }
    return { packed, packedNotes: packedNotes ?? NO_REFS }
  }

  #readHead(): string | undefined {
    return branchIn(this.#fs.readFile(`${this.#gitdir}/HEAD`)?.toString('utf8') ?? '')
  }
}

/** What a reader has seen, as JSON has it. */
export interface SavedRefs {
  /** What `repositoryStamps` answers as long as nothing changes. */
  readonly stamps: string
  readonly head: string | null
  readonly packed: readonly (readonly [name: string, oid: Oid])[]
  readonly packedNotes: readonly (readonly [name: string, oid: Oid])[]
  /** By folder of refs. */
  readonly loose: readonly (readonly (readonly [name: string, oid: Oid])[])[]
}

/** What the repository's own folder holds of refs. */
interface TopFiles {
  readonly packed: ReadonlyMap<string, Oid>
  readonly packedNotes: ReadonlyMap<string, Oid>
  readonly head: string | undefined
}

/** A value read from the disk, with the folder's time at the moment before it was read. */
interface Seen<T> {
  readonly stamp: Stamp
  readonly value: T
}

const NO_REFS: ReadonlyMap<string, Oid> = new Map()

function isSameMap(a: ReadonlyMap<string, Oid>, b: ReadonlyMap<string, Oid>): boolean {
  if (a.size !== b.size) return false
  for (const [name, oid] of a) if (b.get(name) !== oid) return false
  return true
}

function branchIn(head: string): string | undefined {
  return /^ref: (\S+)\s*$/.exec(head)?.[1]
}

function isDirectlyIn(name: string, folder: string): boolean {
  return name.startsWith(`${folder}/`) && !name.includes('/', folder.length + 1)
}

function damagedRef(path: string): Refusal {
  return new Refusal(
    'damaged_repository',
    `${path} does not hold an object id where git keeps one. Restore it from a clone or remove the damaged line.`,
  )
}

/** The folders in which refs that we know are locked, of those whose names are in `refs`. */
export function lockFolders(names: readonly string[]): string[] {
  return [...REF_FOLDERS, NOTES_FOLDER].filter((folder) => names.includes(folder.slice('refs/'.length)))
}

/**
 * The times and inodes of the folders that any move of a ref touches, and of those that packs and alternates lie in; undefined while
 * another change could bear the same.
 */
export function repositoryStamps(fs: Fs, gitdir: string): string | undefined {
  const folders = ['refs', ...REF_FOLDERS].map((folder) => `${gitdir}/${folder}`)
  const all = [...folders, gitdir, `${gitdir}/objects/pack`, `${gitdir}/objects/info`]
  return stampsText(all.map((folder) => stampOf(fs.stat(folder))))
}

/**
 * Whether its refs have not moved since `repositoryStamps` answered this. As with a second look of a reader, folders of refs that were not
 * there are not looked for as long as none came.
 */
export function areRefsAt(fs: Fs, gitdir: string, stamps: string): boolean {
  const [folders, ...seen] = stamps.split(' ').map(stampIn)
  const isStill = (stamp: Stamp | undefined, folder: string): boolean =>
    isSame(stamp ?? ABSENT, stampOf(fs.stat(folder)))
  return (
    isStill(folders, `${gitdir}/refs`) &&
    REF_FOLDERS.every((folder, at) => !seen[at] || isStill(seen[at], `${gitdir}/${folder}`)) &&
    isStill(seen[REF_FOLDERS.length], gitdir)
  )
}

/** When a folder changed last, and which one it was. */
export interface Stamp {
  readonly modified: number
  readonly inode: number
  /** False if the folder had changed so recently that another change could carry the same time. */
  readonly settled: boolean
}

/** Coarser than any kernel's time stamps (1 to 10 ms); a folder younger than this is read again. */
const TICK = 25

/** Of a folder that is not there. */
export const ABSENT: Stamp = { modified: 0, inode: 0, settled: true }

/** The stamp of a folder that was looked at just now. */
export function stampOf(stat: FileStat | undefined): Stamp {
  if (!stat) return ABSENT
  return { modified: stat.modified, inode: stat.inode, settled: Date.now() - stat.modified > TICK }
}

/** Stamps as text; undefined where one is not settled. */
export function stampsText(stamps: readonly (Stamp | undefined)[]): string | undefined {
  if (stamps.some((stamp) => stamp?.settled === false)) return undefined
  return stamps.map((it) => (it && it !== ABSENT ? `${it.modified}/${it.inode}` : '-')).join(' ')
}

/** A stamp of such a text; undefined where it is of nothing. */
export function stampIn(text: string): Stamp | undefined {
  const [modified, inode] = text.split('/').map(Number)
  return modified === undefined || inode === undefined ? undefined : { modified, inode, settled: true }
}

/** Whether nothing has changed in between. */
export function isSame(seen: Stamp, now: Stamp): boolean {
  return seen.settled && seen.modified === now.modified && seen.inode === now.inode
}

/**
 * Whether git lets a ref have this full name: `HEAD`, or a name below `refs/` by the rules of git-check-ref-format(1). None of these
 * leads out of the repository's folder or is the name of a lock.
 */
export function isRefName(name: string): boolean {
  return name === 'HEAD' || (name.startsWith('refs/') && !NO_REF_NAME.test(name))
}

const NO_REF_NAME = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[/.]$/

/** Whether a ref can hold this: an object id, or for HEAD the name of a branch as well. */
export function isRefTarget(ref: string, target: string): boolean {
  if (ref === 'HEAD' && target.startsWith('ref: ')) return isRefName(target.slice('ref: '.length))
  return /^[0-9a-f]{40}$/.test(target)
}

/**
 * The file of a ref. Whoever makes a path of a ref's name makes it here: what git lets no ref be called is refused with
 * `damaged_repository`, wherever it came from, so that no text that somebody sent can name another file.
 */
export function refPath(gitdir: string, ref: string): string {
  if (!isRefName(ref)) throw badName(ref)
  return `${gitdir}/${ref}`
}

/** Refuses a ref that cannot be, or that cannot hold this, with `damaged_repository`. To be asked before it is written. */
export function assertRef(ref: string, target: string): void {
  if (!isRefName(ref)) throw badName(ref)
  if (!isRefTarget(ref, target))
    throw refused(`${JSON.stringify(target.slice(0, 200))} cannot be what ${ref} holds`)
}

function badName(ref: string): Refusal {
  return refused(`${JSON.stringify(ref.slice(0, 200))} cannot be the name of a ref`)
}

function refused(what: string): Refusal {
  return new Refusal(
    'damaged_repository',
    `${what}, so nothing was read or written there. Look for it in what the repository or its backup says (git check-ref-format).`,
  )
}
