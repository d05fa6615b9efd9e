import { type Commit, parseCommit, type Oid } from '../../git/objects.ts'
import { AlignmentSteps, alignMiddles, middleOf } from '../../base/diff.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { readBytes } from '../payload/tree-files.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import { matchTexts } from './match-texts.ts'
import type { PlacedText } from './placed-text.ts'

/** The author of a line of a text. */
export interface BlamedLine {
  readonly text: string
  /** The commit that wrote it. */
  readonly oid: Oid
  readonly commit: Commit
  /** The revision on the first-parent chain that brought it: a merge, or the commit itself. */
  readonly revision: Oid
}

/** If more lines were removed and added, the middle lines count as changed. */
const MOST_EDITS = 4000
/** The same if alignment takes more steps. */
const MOST_STEPS = 8_000_000

/** A text in a commit, with the lines whose authors are wanted. */
interface Search {
  readonly oid: Oid
  readonly text: PlacedText
  /** All texts in the commit. */
  readonly texts: readonly PlacedText[]
  /** By line of the text, the wanted line's index in the result, if any. */
  readonly wanted: readonly (number | undefined)[]
  /** The merge on the first-parent chain that brought this commit. */
  readonly merge: Oid | undefined
}

/**
 * Finds the author of each line of a revision's text: along first parents, and for merged lines along other
 * parents. Compares the texts themselves, not the files that hold them.
 */
export async function blameText(
  { artifact, oid }: RevisionLocation,
  text: PlacedText,
  stop: AbortSignal,
): Promise<readonly BlamedLine[]> {
  const { objects } = artifact.repository
  const slice = new TimeSlice(stop)
  const lines = linesOf(text)
  const blamed = new Map<number, Omit<BlamedLine, 'text'>>()
  const wanted = lines.map((_, at) => at)
  const searches: Search[] = [{ oid, text, texts: await textsAt(oid), wanted, merge: undefined }]
  for (let search = searches.pop(); search; search = searches.pop()) {
    const commit = parseCommit(await readBytes(objects, search.oid, 'commit'))
    let { wanted } = search
    for (const [at, parent] of commit.parents.entries()) {
      const texts = await textsAt(parent)
      const earlier = await textBefore(search, texts, slice)
      if (!earlier) continue
      const [passed, left] = await pass(wanted, linesOf(search.text), linesOf(earlier), slice)
      wanted = left
      const merge = search.merge ?? (at === 0 ? undefined : search.oid)
      if (passed.some((it) => it !== undefined))
        searches.push({ oid: parent, text: earlier, texts, wanted: passed, merge })
    }
    for (const at of wanted)
      if (at !== undefined) blamed.set(at, { oid: search.oid, commit, revision: search.merge ?? search.oid })
    await slice.pause()
  }
  return lines.flatMap((line, at) => {
    const by = blamed.get(at)
    return by ? [{ text: line, ...by }] : []
  })

  async function textsAt(commit: Oid): Promise<readonly PlacedText[]> {
    const { payload } = await artifact.revisions.readForList(objects, commit)
    return (payload && artifact.family.texts?.(payload)) ?? []
  }
}

/** Finds the text of the parent commit that is the earlier version of the text whose lines are searched. */
async function textBefore(
  { text, texts }: Search,
  earlier: readonly PlacedText[],
  slice: TimeSlice,
): Promise<PlacedText | undefined> {
  const own = earlier.find(({ pointer }) => pointer === text.pointer)
  if (own?.text === text.text) return own
  for (const [{ pointer }, it] of await slice.run(matchTexts(texts, earlier)))
    if (pointer === text.pointer) return it
  return undefined
}

/** The lines of a text without line feeds; a final line feed adds no line. */
function linesOf({ text }: PlacedText): readonly string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}

/** The wanted lines that the earlier text already has, by its lines, and the remaining ones. */
async function pass(
  wanted: Search['wanted'],
  now: readonly string[],
  earlier: readonly string[],
  slice: TimeSlice,
): Promise<[passed: Search['wanted'], left: Search['wanted']]> {
  const numbers = new Map<string, number>()
  const numbered = async (lines: readonly string[]): Promise<number[]> => {
    const found: number[] = []
    await slice.each(lines, (line) => {
      const known = numbers.get(line) ?? numbers.size
      numbers.set(line, known)
      found.push(known)
    })
    return found
  }
  const [before, after] = [await numbered(earlier), await numbered(now)]
  const work = alignMiddles(before, after, MOST_EDITS, new AlignmentSteps(MOST_STEPS))
  const differences = (await slice.run(work)) ?? [middleOf(before, after)]
  const passed: (number | undefined)[] = []
  const left = [...wanted]
  let [from, to] = [0, 0]
  const same = (end: number): void => {
    for (; from < end; from++, to++) {
      passed[from] = wanted[to]
      left[to] = undefined
    }
  }
  for (const it of differences) {
    same(it.from)
    from += it.removed
    to += it.added
  }
  same(earlier.length)
  return [passed, left]
}
