import { type Fs, thisProcess } from '../../../storage/files.ts'
import { COPY_FOLDER } from '../../../git/store.ts'
import type { Positions, StreamPosition } from '../shared-log.ts'

/** How far a folder follows a log: it has everything up to these positions, and maybe more. */
export interface FolderPosition {
  /** The stream of the server that uses the folder. */
  readonly stream: string
  readonly era: string
  readonly positions: Positions
  /** Set while the folder is being filled: it has all repositories up to this name. */
  readonly filled?: string | undefined
}

/** Writes the id of the database to a new folder, which will be a copy of that database. */
export async function nameDatabase(fs: Fs, dir: string, id: string): Promise<void> {
  const aside = `${dir}/${COPY_FOLDER}/database.new`
  fs.remove(aside)
  await fs.createSynced(aside, Buffer.from(`${id}\n`))
  fs.rename(aside, `${dir}/${COPY_FOLDER}/database`)
  await fs.syncDir(`${dir}/${COPY_FOLDER}`)
}

/**
 * The stream and the position of a folder. The position is undefined if the machine was restarted since: a copy is not synced, so its content
 * has to be checked.
 */
export function readPosition(
  fs: Fs,
  dir: string,
): { readonly stream: string | undefined; readonly position: FolderPosition | undefined } {
  const text = fs.readFile(pathIn(dir))?.toString('utf8')
  const saved = text === undefined ? undefined : parse(text)
  if (!saved) return { stream: undefined, position: undefined }
  const { stream, era, boot, positions, filled } = saved
  const known = { stream, era, positions: new Map(positions), filled }
  return { stream, position: boot === thisProcess().boot ? known : undefined }
}

/** Replaces the position file atomically, without syncing it. */
export function savePosition(fs: Fs, dir: string, { stream, era, positions, filled }: FolderPosition): void {
  const saved: SavedPosition = { stream, era, boot: thisProcess().boot, positions: [...positions], filled }
  const aside = `${pathIn(dir)}.new`
  fs.remove(aside)
  fs.create(aside, Buffer.from(JSON.stringify(saved)))
  fs.rename(aside, pathIn(dir))
}

interface SavedPosition extends Pick<FolderPosition, 'stream' | 'era' | 'filled'> {
  /** The machine's boot id when the position was saved. */
  readonly boot: string
  readonly positions: readonly (readonly [string, StreamPosition])[]
}

/** Undefined if a power cut damaged the file. */
function parse(text: string): SavedPosition | undefined {
  try {
    return JSON.parse(text) as SavedPosition // written by the function above, in one step
  } catch {
    return undefined
  }
}

function pathIn(dir: string): string {
  return `${dir}/${COPY_FOLDER}/position`
}
