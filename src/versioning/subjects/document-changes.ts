import { AlignmentSteps, alignNumbers } from '../../json/diff/align-numbers.ts'
import type { JsonChange } from '../../json/diff/json-patch.ts'
import { lightChanges } from '../../json/diff/json-patch.ts'
import { pointerKeys } from '../../json/json-pointer.ts'
import { ExactNumber, type Json } from '../../json/json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import { atOnce } from '../../scheduling/cooperative.ts'
import { LONGEST_NAME, LONGEST_SUBJECT, shownName, shownPlace } from './shown-name.ts'

/** One change of a document, in words: a verb, what it is done to, and what comes behind that. */
export interface ChangeInWords {
  readonly verb: string
  readonly place: readonly string[]
  /** The file that the text there lies in. */
  readonly file?: string | undefined
  readonly rest: string
  readonly isRemoval: boolean
}

/**
 * What changed between two documents, in order; undefined if they are too large to tell in a millisecond or so. `files` are those that texts
 * of the later one lie in, by JSON Pointer.
 */
export function documentChanges(
  before: Json | undefined,
  after: Json | undefined,
  files: ReadonlyMap<string, string> = new Map(),
): readonly ChangeInWords[] | undefined {
  if (before === undefined && after === undefined) return []
  if (before === undefined || after === undefined)
    return [inWords(before === undefined ? 'Add' : 'Remove', ['data'])]
  const steps = new AlignmentSteps(MOST_STEPS)
  return lightChanges(before, after)?.map((change) => wordsOf(change, files, steps))
}

/** Changes as a subject: the first of them, and how many more there are. */
export function sentenceOf(changes: readonly ChangeInWords[]): string {
  const [first] = changes
  if (!first) return 'Change nothing'
  const { verb, place, file, rest } = first
  const tail = changes.length > 1 ? `${rest} and ${changes.length - 1} more` : rest
  const room = LONGEST_SUBJECT - `${verb} ${tail}`.length
  const longest = Math.min(LONGEST_NAME, room)
  return `${verb} ${file === undefined ? shownPlace(place, longest) : shownName(file, longest)}${tail}`
}

function wordsOf(
  { operation, before }: JsonChange,
  files: ReadonlyMap<string, string>,
  steps: AlignmentSteps,
): ChangeInWords {
  const place = operation.path === '' ? ['data'] : pointerKeys(operation.path)
  if (operation.op === 'remove') return inWords('Remove', place)
  const { value } = operation
  const shown = shownValue(value)
  if (shown !== undefined) return inWords('Set', place, ` to ${shown}`)
  const file = fileAt(operation.path, files)
  if (operation.op === 'add') return { ...inWords('Add', place), file }
  if (typeof before === 'string' && typeof value === 'string')
    return { ...inWords('Edit', place, changedLines(before, value, steps)), file }
  return inWords(value === null ? 'Clear' : 'Change', place)
}

/** The file of the text at a pointer, or of the first one below: of a message, what it says. */
function fileAt(pointer: string, files: ReadonlyMap<string, string>): string | undefined {
  const file = files.get(pointer)
  if (file !== undefined) return file
  for (const [place, below] of files) if (place.startsWith(`${pointer}/`)) return below
  return undefined
}

function inWords(verb: string, place: readonly string[], rest = ''): ChangeInWords {
  return { verb, place, rest, isRemoval: verb === 'Remove' }
}

/** Numbers and booleans; undefined for what is not shown. */
function shownValue(value: Json): string | undefined {
  const isShown = typeof value === 'number' || typeof value === 'boolean' || value instanceof ExactNumber
  const text = isShown ? stringifyJson(value) : ''
  return text === '' || text.length > LONGEST_VALUE ? undefined : text
}

const LONGEST_VALUE = 20

/** Lines and edits of texts that are aligned. */
const MOST_LINES = 5000
const MOST_EDITS = 200
/** Steps of aligning all texts that changed. */
const MOST_STEPS = 200_000

/** How many lines came and went, as `git diff --stat` counts them; empty where texts are too different to tell quickly. */
function changedLines(before: string, after: string, steps: AlignmentSteps): string {
  const numbers = new Map<string, number>()
  const numbered = (text: string): number[] =>
    text.split('\n').map((line) => {
      const number = numbers.get(line) ?? numbers.size
      numbers.set(line, number)
      return number
    })
  const [old, now] = [numbered(before), numbered(after)]
  const differences =
    old.length + now.length > MOST_LINES ? undefined : atOnce(alignNumbers(old, now, MOST_EDITS, steps))
  if (!differences) return ''
  const sum = (count: 'added' | 'removed'): number => differences.reduce((all, it) => all + it[count], 0)
  return ` (+${sum('added')} −${sum('removed')})`
}
