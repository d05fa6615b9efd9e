import { isUtf8 } from 'node:buffer'
import type { TreeEntry } from '../../git/objects/tree.ts'
import type { Json } from '../../json/json.ts'
import type { TimeSlice } from '../../scheduling/cooperative.ts'
import type { PayloadTarget } from '../family/family.ts'
import { FolderTree, pathPart } from '../family/folder-tree.ts'
import { readBytes, readTree } from '../family/tree-files.ts'
import { mergeTexts } from './merge-texts.ts'
import type { Conflict, Merging, Sides } from './merging.ts'
import { eachSide } from './merging.ts'

/** Three trees whose files are merged, but for those that are of no interest. */
export interface FileSides {
  readonly roots: Sides<readonly TreeEntry[]>
  /** Whether a file or folder of a side is left alone. */
  readonly isLeftOut: Sides<(path: string) => boolean>
}

/** A larger file is merged as a whole. */
const LONGEST_TEXT = 4 * 1024 * 1024

/**
 * The target's root with the source's changes of files made in it: texts by line, others as a whole. Folders that are the same on the
 * target's or the source's side as in the base, or on both, are not looked into where that decides it.
 */
export async function mergeFiles(
  target: PayloadTarget,
  { roots, isLeftOut }: FileSides,
  merging: Merging,
  slice: TimeSlice,
): Promise<readonly TreeEntry[]> {
  const tree = new FolderTree(target, roots.target)
  await folder('', roots)
  return tree.entries(target)

  async function folder(path: string, entries: Sides<readonly TreeEntry[]>): Promise<void> {
    const named = eachSide(entries, (list) => new Map(list.map((entry) => [pathPart(entry), entry])))
    const names = new Set([...named.target.keys(), ...named.source.keys(), ...named.base.keys()])
    await slice.each(names, (name) => {
      const at = `${path}${name}`
      const entry = (side: keyof Sides<unknown>): TreeEntry | undefined =>
        isLeftOut[side](at) ? undefined : named[side].get(name)
      const sides = { base: entry('base'), target: entry('target'), source: entry('source') }
      return isSame(sides.target, sides.source) || isSame(sides.base, sides.source)
        ? undefined
        : entryAt(at, sides)
    })
  }

  async function entryAt(path: string, sides: Sides<TreeEntry | undefined>): Promise<void> {
    const { base, target: ours, source } = sides
    const isFolderOrNone = ({ mode } = { mode: '40000' }): boolean => mode === '40000'
    // The source's folder may hold what is left out, so it is never taken as it is.
    if (isFolderOrNone(base) && isFolderOrNone(ours) && isFolderOrNone(source)) {
      const below = async (entry: TreeEntry | undefined): Promise<readonly TreeEntry[]> =>
        entry ? readTree(target, entry.oid) : []
      return folder(`${path}/`, {
        base: await below(base),
        target: await below(ours),
        source: await below(source),
      })
    }
    if (isSame(base, ours)) return put(path, source)
    const texts = await textsOf(sides)
    const merged =
      texts &&
      ours &&
      source &&
      (await slice.run(
        mergeTexts({ ...texts, base: texts.base ?? '' } as Sides<string>, 'lines', merging.effort),
      ))
    if (merged && 'text' in merged) return putText(path, merged.text, isSame(base, ours) ? source : ours)
    const isOfSource = ours === undefined
    const conflict: Conflict = {
      place: { file: shownPath(path) },
      ...(isOfSource && { in: 'source' }),
      kind: !base ? 'both_added' : isOfSource || !source ? 'changed_and_removed' : 'both_changed',
      ...(await valuesOf(sides)),
      ...(merged && { marked: merged.marked }),
    }
    const chosen = merging.choose(conflict)
    if (!chosen) return undefined
    if (chosen.take) return chosen.take === 'target' ? undefined : put(path, sides[chosen.take])
    if (chosen.remove) return put(path, undefined)
    const value = chosen.value
    return putText(path, typeof value === 'string' ? value : JSON.stringify(value), ours ?? source)
  }

  async function put(path: string, entry: TreeEntry | undefined): Promise<void> {
    await tree.remove(path)
    if (entry) await tree.put(path, entry)
  }

  function putText(path: string, text: string, like: TreeEntry | undefined): Promise<void> {
    const mode = like?.mode === '100755' ? '100755' : '100644'
    return put(path, { mode, name: '', oid: target.write('blob', Buffer.from(text)) })
  }

  /** The texts of what is there, if all that is there are texts; undefined otherwise. */
  async function textsOf(
    sides: Sides<TreeEntry | undefined>,
  ): Promise<Sides<string | undefined> | undefined> {
    const texts = {
      base: await textOf(sides.base),
      target: await textOf(sides.target),
      source: await textOf(sides.source),
    }
    const isText = (side: keyof Sides<unknown>): boolean => !sides[side] || texts[side] !== undefined
    return isText('base') && isText('target') && isText('source') ? texts : undefined
  }

  async function textOf(entry: TreeEntry | undefined): Promise<string | undefined> {
    if (entry?.mode !== '100644' && entry?.mode !== '100755') return undefined
    const bytes = await readBytes(target, entry.oid, 'blob')
    const isText = bytes.length <= LONGEST_TEXT && !bytes.includes(0) && isUtf8(bytes)
    return isText ? bytes.toString('utf8') : undefined
  }

  /** What a conflict shows: texts, and of what is none its git id. */
  async function valuesOf(sides: Sides<TreeEntry | undefined>): Promise<Partial<Sides<Json>>> {
    const shown: Partial<Record<keyof Sides<unknown>, Json>> = {}
    for (const side of ['base', 'target', 'source'] as const) {
      const entry = sides[side]
      if (entry) shown[side] = (await textOf(entry)) ?? { mode: entry.mode, oid: entry.oid }
    }
    return shown
  }
}

/** A path as an answer shows it: a name that is not UTF-8 as near as it comes. */
function shownPath(path: string): string {
  const shown = (part: string): string =>
    part.startsWith('\0') ? Buffer.from(part.slice(1), 'latin1').toString('utf8') : part
  return path.split('/').map(shown).join('/')
}

function isSame(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  return one?.oid === other?.oid && one?.mode === other?.mode
}
