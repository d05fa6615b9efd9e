import { Turns } from '../../../src/base/scheduling/turns.ts'
import type { TableFeed } from '../../../src/cluster/documents/document-table.ts'
import { SharedDocuments } from '../../../src/cluster/documents/shared-documents.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'

/** A server of a store that several share, as far as documents go: a folder of its own that follows. */
export interface SharingServer {
  readonly fs: Fs
  /** The same, as what is in a store is given it. */
  readonly storeFs: Fs
  /** Takes in what others changed, as before each request. */
  readonly fresh: () => Promise<void>
  readonly documents: SharedDocuments
  /** The files of its folder, by their paths in the store. */
  files(): Record<string, string>
}

/** Where a server's folder is, on a disk of its own. */
export const FOLDER = '/store'

export interface Sharing {
  readonly feed: TableFeed
  readonly fs?: Fs
  readonly leaseMs?: number
}

/** Opens a server over what others share. */
export async function sharingServer({ feed, fs = memoryFs(), leaseMs }: Sharing): Promise<SharingServer> {
  fs.makeDir(FOLDER)
  const turns = new Turns()
  const fresh = (): Promise<void> => turns.take('look', () => documents.follow())
  const documents: SharedDocuments = new SharedDocuments({
    fs,
    dir: FOLDER,
    feed,
    fresh,
    ...(leaseMs === undefined ? {} : { leaseMs }),
  })
  await documents.open()
  return { fs, storeFs: { ...fs, documents }, fresh, documents, files: () => filesBelow(fs, FOLDER, '') }
}

function filesBelow(fs: Fs, folder: string, name: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of fs.readDir(folder) ?? []) {
    const path = `${folder}/${entry}`
    const inside = name === '' ? entry : `${name}/${entry}`
    if (fs.stat(path)?.kind === 'folder') Object.assign(found, filesBelow(fs, path, inside))
    else found[inside] = fs.readFile(path)?.toString() ?? ''
  }
  return found
}
