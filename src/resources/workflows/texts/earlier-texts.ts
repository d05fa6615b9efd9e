import type { RefusalCode } from '../../../errors.ts'
import { Refusal } from '../../../errors.ts'
import type { TreeEntry } from '../../../git/objects/tree.ts'
import type { JsonObject } from '../../../json/json.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { FolderTree } from '../../../versioning/family/folder-tree.ts'
import { decodeJsonFile } from '../../documents/decode-json-file.ts'
import type { PlacedText } from '../../../versioning/texts/placed-text.ts'
import { findTexts } from './find-texts.ts'
import { readTexts } from './read-texts.ts'

/** A text of the parent, and the file it lies in; without an entry, the one it would lie in if the parent had texts in files. */
export interface EarlierText extends PlacedText {
  readonly path: string
  readonly entry: TreeEntry | undefined
}

/** What the parent's data is, and what of it lies in files. */
export interface EarlierData {
  readonly data: JsonObject
  readonly texts: readonly EarlierText[]
  /** All files that its markers name: those of the texts, and what git put elsewhere. */
  readonly files: ReadonlySet<string>
}

const UNREADABLE: readonly RefusalCode[] = ['damaged_repository', 'unsupported_format']

/**
 * Reads the parent's data from its file and those beside it; undefined where there is none that can be read. What is larger than `maxBytes` is
 * not compared: its texts are as good as gone.
 */
export async function readEarlier(
  file: string,
  tree: FolderTree,
  maxBytes: number,
  slice: TimeSlice,
): Promise<EarlierData | undefined> {
  const bytes = await tree.read(file)
  if (!bytes || bytes.length > maxBytes) return undefined
  try {
    const stored = await decodeJsonFile(file, bytes, "a workflow's data")
    let room = maxBytes - bytes.length
    const { data, paths } = await readTexts(file, stored, async (path, times = 1) => {
      const text = room < 0 ? undefined : await tree.read(path)
      room -= (text?.length ?? 0) * times
      return room < 0 ? Buffer.alloc(0) : text
    })
    if (room < 0) return { data: {}, texts: [], files: new Set(paths.values()) }
    const files = new Set(paths.values())
    const left = new Set(files)
    const texts: EarlierText[] = []
    for (const text of files.size > 0 ? await slice.run(findTexts(data, new Set(paths.keys()))) : []) {
      const path = paths.get(text.pointer)
      // Of two markers that name one file the first has it.
      if (path !== undefined && left.delete(path)) texts.push({ ...text, path, entry: await tree.at(path) })
    }
    return { data, texts, files }
  } catch (error) {
    // What plain git broke, or a later server wrote, is mended by the next data; its files are then nobody's.
    if (error instanceof Refusal && UNREADABLE.includes(error.code)) return undefined
    throw error
  }
}
