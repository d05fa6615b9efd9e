import { identityName, thisProcess } from '../../../src/storage/files/process-identity.ts'
import type { DiskNode, NameChange, UnsyncedWrite } from '../../../test/support/disk/disk-nodes.ts'
import { DiskFile, DiskFolder, setName, writtenOver } from '../../../test/support/disk/disk-nodes.ts'
import type { Random } from '../../../test/support/values/random.ts'
import type { DiskState } from '../../../test/support/disk/disk-names.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'

/**
 * What a crash does to what no sync has vouched for. `killed` is the process's own end: the page cache stays. The others are
 * power cuts: everything is lost, or nothing; names come without the bytes behind them, or bytes without names; what was removed is
 * gone, and nothing that was made is there; or each name and each page of a write is kept or lost by itself.
 */
export const CRASHES = [
  'killed',
  'nothing unsynced',
  'everything',
  'names without bytes',
  'bytes without names',
  'removals only',
  'some of it',
] as const

export const POWER_CUTS = CRASHES.filter((crash) => crash !== 'killed')

export type Crash = (typeof CRASHES)[number]

/** Of before any machine's start that runs this, in milliseconds. */
const LONG_AGO = 20 * 365 * 24 * 60 * 60 * 1000
/** What a disk writes in one go. */
const PAGE = 512

/**
 * The disk as the next start finds it, of which the crashed one knows nothing. Its files are those of a process that is dead: of
 * this start of the machine if it was killed, else of an earlier one. `life` tells one dead process from another.
 */
export function crashed(state: DiskState, crash: Crash, random: Random, life = 1): SimulatedDisk {
  const aftermath =
    crash === 'killed'
      ? new Aftermath(renamedAsKilled(life))
      : new Aftermath(renamedAsOfBefore(life), powerCut(crash, state.changes, random))
  return new SimulatedDisk(random, aftermath.copy(state))
}

/** Names that hold an identity are given another one's. */
type Rename = (text: string) => string

function renamedAsKilled(life: number): Rename {
  const self = thisProcess()
  const [alive, dead] = [identityName(self), identityName({ ...self, pid: 999_999_999, start: `${life}` })]
  return (text) => text.replaceAll(alive, dead)
}

function renamedAsOfBefore(life: number): Rename {
  const { host, boot } = thisProcess()
  const earlier = `${host}.${(0xfeed00000000 + life).toString(16)}.`
  return (text) => text.replaceAll(`${host}.${boot}.`, earlier)
}

/** What of the disk a power cut leaves. */
interface Survival {
  names(folder: DiskFolder): ReadonlyMap<string, DiskNode>
  bytes(file: DiskFile): Buffer
}

function powerCut(crash: Crash, changes: readonly NameChange[], random: Random): Survival {
  const share = crash === 'some of it' ? random.next() : 0.5
  const isNameKept = {
    everything: () => true,
    'names without bytes': () => true,
    'removals only': ({ parts }) => parts.every(({ node }) => !node),
    'some of it': () => random.chance(share),
  } as Partial<Record<Crash, (change: NameChange) => boolean>> // a crash that is not named keeps no names
  const namesOf = keptNames(changes, isNameKept[crash] ?? (() => false))
  return {
    names: (folder) => namesOf.get(folder) ?? folder.durable,
    bytes: (file) => {
      if (crash === 'everything' || crash === 'bytes without names') return file.bytes
      if (crash !== 'some of it') return file.durable
      return file.unsynced
        .flatMap((write) => torn(write, random, share))
        .reduce((bytes, piece) => writtenOver(bytes, piece), file.durable)
    },
  }
}

/** The names in folders after some of the changes; what happened to a name later did not happen without what happened before. */
function keptNames(
  changes: readonly NameChange[],
  isKept: (change: NameChange) => boolean,
): ReadonlyMap<DiskFolder, ReadonlyMap<string, DiskNode>> {
  const needed = new Map<DiskFolder, Set<string>>()
  const kept: NameChange[] = []
  for (const change of changes.toReversed()) {
    const isNeeded = change.parts.some(({ folder, name }) => needed.get(folder)?.has(name))
    if (!isNeeded && !isKept(change)) continue
    kept.unshift(change)
    for (const { folder, name } of change.parts) {
      needed.set(folder, (needed.get(folder) ?? new Set()).add(name))
    }
  }
  const names = new Map<DiskFolder, Map<string, DiskNode>>()
  for (const { parts } of kept) {
    for (const part of parts) {
      const after = names.get(part.folder) ?? new Map(part.folder.durable)
      setName(after, part)
      names.set(part.folder, after)
    }
  }
  return names
}

/** What is left of a write: all, nothing, its beginning, or some pages. */
function torn(
  write: UnsyncedWrite,
  random: Random,
  share: number,
): readonly Pick<UnsyncedWrite, 'at' | 'bytes'>[] {
  if (random.chance(share)) return [write]
  const { at, bytes } = write
  const way = random.below(3)
  if (way === 0) return []
  if (way === 1) return [{ at, bytes: bytes.subarray(0, random.below(bytes.length)) }]
  const pages = []
  for (let start = 0; start < bytes.length; start += PAGE) {
    if (random.chance(0.5)) pages.push({ at: at + start, bytes: bytes.subarray(start, start + PAGE) })
  }
  return pages
}

/** A copy of a disk: after a power cut of what survived, else of everything, unsynced or not. */
class Aftermath {
  readonly #rename: Rename
  readonly #survival: Survival | undefined
  readonly #copies = new Map<DiskNode, DiskNode>()

  constructor(rename: Rename, survival?: Survival) {
    this.#rename = rename
    this.#survival = survival
  }

  copy({ root, changes, order }: DiskState): DiskState {
    return {
      root: this.#folder(root),
      order,
      changes: (this.#survival ? [] : changes).map((change) => ({
        order: change.order,
        parts: change.parts.map(({ folder, name, node }) => ({
          folder: this.#folder(folder),
          name: this.#rename(name),
          node: node && this.#node(node),
        })),
      })),
    }
  }

  #node(node: DiskNode): DiskNode {
    return node.kind === 'file' ? this.#file(node) : this.#folder(node)
  }

  #folder(folder: DiskFolder): DiskFolder {
    const known = this.#copies.get(folder)
    if (known?.kind === 'folder') return known
    const copy = new DiskFolder(this.#survival ? folder.modified - LONG_AGO : folder.modified)
    this.#copies.set(folder, copy)
    const durable = this.#survival?.names(folder) ?? folder.durable
    for (const [name, node] of durable) copy.durable.set(this.#rename(name), this.#node(node))
    const entries = this.#survival ? durable : folder.entries
    for (const [name, node] of entries) {
      const child = this.#node(node)
      if (child.kind === 'file') child.links++
      copy.entries.set(this.#rename(name), child)
    }
    return copy
  }

  #file(file: DiskFile): DiskFile {
    const known = this.#copies.get(file)
    if (known?.kind === 'file') return known
    const copy = new DiskFile(this.#survival ? file.modified - LONG_AGO : file.modified)
    this.#copies.set(file, copy)
    copy.bytes = this.#survival?.bytes(file) ?? file.bytes
    copy.durable = this.#survival ? copy.bytes : file.durable
    copy.unsynced = this.#survival ? [] : file.unsynced
    // What a process puts its name into, to be known by (`.keep`); everything else is longer, or the same for all.
    const text = copy.bytes.length < 200 ? copy.bytes.toString('latin1') : ''
    if (this.#rename(text) !== text) {
      copy.bytes = copy.durable = Buffer.from(this.#rename(text), 'latin1')
      copy.unsynced = []
    }
    return copy
  }
}
