/** What has a name on a simulated disk. */
export type DiskNode = DiskFile | DiskFolder

/** Bytes written to a file that no sync has vouched for. */
export interface UnsyncedWrite {
  readonly order: number
  readonly at: number
  readonly bytes: Buffer
}

let inodes = 0

/** A file: what everybody reads, and what of it is on the disk for certain. */
export class DiskFile {
  readonly kind = 'file'
  readonly inode = ++inodes
  bytes: Buffer = EMPTY
  durable: Buffer = EMPTY
  unsynced: readonly UnsyncedWrite[] = []
  modified: number
  /** How many names it has. */
  links = 0

  constructor(modified: number) {
    this.modified = modified
  }

  write(write: UnsyncedWrite): void {
    this.bytes = writtenOver(this.bytes, write)
    this.unsynced = [...this.unsynced, write]
    this.modified = Date.now()
  }

  /** What was written up to then is on the disk. */
  settle(upTo: number): void {
    for (const write of this.unsynced)
      if (write.order <= upTo) this.durable = writtenOver(this.durable, write)
    this.unsynced = this.unsynced.filter(({ order }) => order > upTo)
  }
}

/** A folder: the names that everybody sees, and those that are on the disk for certain. */
export class DiskFolder {
  readonly kind = 'folder'
  readonly inode = ++inodes
  readonly entries = new Map<string, DiskNode>()
  readonly durable = new Map<string, DiskNode>()
  modified: number

  constructor(modified: number) {
    this.modified = modified
  }
}

/** Changes of names that happen together or not at all: two for a rename, one for anything else. */
export interface NameChange {
  readonly order: number
  readonly parts: readonly NamePart[]
}

/** What a name in a folder stands for from now on; undefined for nothing. */
export interface NamePart {
  readonly folder: DiskFolder
  readonly name: string
  readonly node: DiskNode | undefined
}

/** The bytes after a write over them; a hole before it is zeros. */
export function writtenOver(before: Buffer, { at, bytes }: Pick<UnsyncedWrite, 'at' | 'bytes'>): Buffer {
  const after = Buffer.alloc(Math.max(before.length, at + bytes.length))
  before.copy(after)
  bytes.copy(after, at)
  return after
}

/** Makes a name stand for what a change says. */
export function setName(names: Map<string, DiskNode>, { name, node }: Omit<NamePart, 'folder'>): void {
  if (node) names.set(name, node)
  else names.delete(name)
}

const EMPTY = Buffer.alloc(0)
