import { Refusal } from '../../errors.ts'
import type { FileStat, Fs } from '../../storage/files.ts'
import type { Oid } from '../objects/object.ts'
import { readEpoch } from '../../base/scheduling.ts'

/** The folders of refs in a snapshot. Refs elsewhere (remotes, deeper names) are ignored. */
export const REF_FOLDERS = ['refs/heads', 'refs/tags', 'refs/meta', 'refs/environments'] as const

/** The folder of refs that are read one by one, and too seldom to be in a snapshot. */
export const NOTES_FOLDER = 'refs/notes'

/** The refs of a repository at one moment. It is the same object until something changes. */
export interface RefSnapshot {
  /** Full ref names (`refs/heads/main`) to object ids. */
  readonly refs: ReadonlyMap<string, Oid>
  /** The ref that HEAD points at, existing or not; undefined if HEAD is detached. */
  readonly head: string | undefined
}

/**
 * Reads the refs of one bare repository, loose and packed. It tells by the times of folders whether something changed since the last look: git,
 * other servers and this one move a ref by creating a lock beside it and renaming it, which always changes the folder's time
 * (gitrepository-layout(5), git-pack-refs(1)).
 */
export class RefReader {
  readonly #fs: Fs
  readonly #gitdir: string
  /** The last look at each folder of refs; undefined for a missing folder. */
  #loose: readonly (Seen<ReadonlyMap<string, Oid>> | undefined)[] = []
  /** `refs` itself: its time changes when one of the folders comes or goes. */
  #folders: Stamp | undefined
  #top: Seen<TopFiles> | undefined
  #snapshot: RefSnapshot | undefined
  #turn: number | undefined

  /** With the saved state of another reader, it looks only at what has changed since. */
  constructor(fs: Fs, gitdir: string, saved?: SavedRefs) {
    this.#fs = fs
    this.#gitdir = gitdir
    if (saved) this.#restore(saved)
  }

  /** The current state, for another reader to begin with; undefined if the refs moved so recently that another move could have the same times. */
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

  /** The current refs. Requests that came in together share one look (see readEpoch). */
  shared(): RefSnapshot {
    const turn = readEpoch()
    if (this.#snapshot && this.#turn === turn) return this.#snapshot
    const snapshot = this.snapshot()
    this.#turn = turn
    return snapshot
  }

  /** The current refs. If nothing changed, it costs one stat for each existing folder. Refuses a damaged ref file by its name. */
  snapshot(): RefSnapshot {
    // Loose refs before packed ones: `git pack-refs` writes the packed file before it removes a loose one, so nothing is missed.
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

  /** The current value of one ref, from the disk. */
  current(ref: string): Oid | undefined {
    // Loose before packed, as above.
    const loose = this.#readLoose(refPath(this.#gitdir, ref))
    if (loose !== undefined) return loose
    const { packed, packedNotes } = this.#packedAndHead()
    return packed.get(ref) ?? packedNotes.get(ref)
  }

  /** The refs after these moves by this process, without a look at the disk. The next look shows moves by others. */
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

  /** The snapshot of the last look or the last own move. */
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
    // In a store with very many repositories, most have only packed refs, and need no second map.
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

  /** Undefined for something else than a ref of a snapshot: a folder of deeper names, a symbolic ref, a file that has just vanished. */
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

/** The saved state of a reader, as JSON. */
export interface SavedRefs {
  /** The same text as long as `repositoryStamps` answers it. */
  readonly stamps: string
  readonly head: string | null
  readonly packed: readonly (readonly [name: string, oid: Oid])[]
  readonly packedNotes: readonly (readonly [name: string, oid: Oid])[]
  /** By folder of refs. */
  readonly loose: readonly (readonly (readonly [name: string, oid: Oid])[])[]
}

/** The parts of the state that lie in the repository's own folder. */
interface TopFiles {
  readonly packed: ReadonlyMap<string, Oid>
  readonly packedNotes: ReadonlyMap<string, Oid>
  readonly head: string | undefined
}

/** A value from the disk, with the folder's time just before it was read. */
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

/** The folders with locked refs, of the folders of refs that are known. */
export function lockFolders(names: readonly string[]): string[] {
  return [...REF_FOLDERS, NOTES_FOLDER].filter((folder) => names.includes(folder.slice('refs/'.length)))
}

/**
 * The times and inodes of all folders that change when a ref moves, and of those with packs and alternates; undefined if another change could have
 * the same times.
 */
export function repositoryStamps(fs: Fs, gitdir: string): string | undefined {
  const folders = ['refs', ...REF_FOLDERS].map((folder) => `${gitdir}/${folder}`)
  const all = [...folders, gitdir, `${gitdir}/objects/pack`, `${gitdir}/objects/info`]
  return stampsText(all.map((folder) => stampOf(fs.stat(folder))))
}

/**
 * Whether the refs are unchanged since `repositoryStamps` answered this. Like a reader's second look, it does not look for missing folders of refs
 * until one is made.
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

/** Longer than the steps of any kernel's time stamps (1 to 10 ms); a folder that changed more recently is read again. */
const TICK = 25

/** The stamp of a missing folder. */
export const ABSENT: Stamp = { modified: 0, inode: 0, settled: true }

/** The stamp of a folder that was looked at just now. */
export function stampOf(stat: FileStat | undefined): Stamp {
  if (!stat) return ABSENT
  return { modified: stat.modified, inode: stat.inode, settled: Date.now() - stat.modified > TICK }
}

/** Stamps as text; undefined if one of them is too recent. */
export function stampsText(stamps: readonly (Stamp | undefined)[]): string | undefined {
  if (stamps.some((stamp) => stamp?.settled === false)) return undefined
  return stamps.map((it) => (it && it !== ABSENT ? `${it.modified}/${it.inode}` : '-')).join(' ')
}

/** A stamp from such a text; undefined for a missing folder. */
export function stampIn(text: string): Stamp | undefined {
  const [modified, inode] = text.split('/').map(Number)
  return modified === undefined || inode === undefined ? undefined : { modified, inode, settled: true }
}

/** Whether nothing has changed between two stamps. */
export function isSame(seen: Stamp, now: Stamp): boolean {
  return seen.settled && seen.modified === now.modified && seen.inode === now.inode
}

/**
 * Whether git accepts this full name of a ref: `HEAD`, or a name below `refs/` by the rules of git-check-ref-format(1). Such a name never leads
 * out of the repository's folder, and never is the name of a lock.
 */
export function isRefName(name: string): boolean {
  return name === 'HEAD' || (name.startsWith('refs/') && !NO_REF_NAME.test(name))
}

const NO_REF_NAME = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[/.]$/

/** Whether a ref can have this value: an object id, or for HEAD also the name of a branch. */
export function isRefTarget(ref: string, target: string): boolean {
  if (ref === 'HEAD' && target.startsWith('ref: ')) return isRefName(target.slice('ref: '.length))
  return /^[0-9a-f]{40}$/.test(target)
}

/**
 * The path of a ref's file. Every path of a ref is made here: a name that git does not accept is refused with `damaged_repository`, so that no
 * text from outside can name another file.
 */
export function refPath(gitdir: string, ref: string): string {
  if (!isRefName(ref)) throw badName(ref)
  return `${gitdir}/${ref}`
}

/** Refuses an impossible ref, or an impossible value, with `damaged_repository`. Call it before the ref is written. */
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
