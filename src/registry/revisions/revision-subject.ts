import { isDeepStrictEqual } from 'node:util'
import { AlignmentSteps, alignNumbers, type JsonChange, lightChanges } from '../../base/diff.ts'
import { pointerKeys, ExactNumber, type Json, stringifyJson } from '../../base/json.ts'
import { atOnce } from '../../base/scheduling.ts'
import type { Header } from '../artifacts/artifact-record.ts'
import { referencesTo } from '../environments/pin.ts'
import { documentOf } from '../payload/document-family.ts'
import type { ChangedRows, Family, MetRows, Payload, WrittenPayload } from '../payload/family.ts'
import type { Pin } from '../store/reference.ts'
import { LONGEST_NAME, LONGEST_SUBJECT, shownName, shownPlace } from './shown-name.ts'

/** A revision and the parent it is compared with. */
interface SubjectSides {
  readonly families: readonly Family[]
  readonly family: Family
  /** The slug of its artifact. */
  readonly artifact: string
  /** Undefined for a revision without a parent. */
  readonly before: RevisionContent | undefined
  readonly after: RevisionContent
  readonly changedRows?: WrittenPayload['changedRows']
  readonly met?: WrittenPayload['met']
}

interface RevisionContent {
  readonly header: Header
  readonly payload: Payload | undefined
  /** The files that hold texts of the payload, by JSON Pointer. */
  readonly files?: ReadonlyMap<string, string> | undefined
  /** Why they could not be decoded. */
  readonly damage?: unknown
}

/**
 * The subject of a revision committed without a message: its changes by names and counts, in at most 72
 * characters. Shows only numbers and booleans as values. The same change has the same subject. The work is
 * bounded, and an error never fails the write.
 */
export async function revisionSubject(sides: SubjectSides): Promise<string> {
  try {
    return (await subjectOfPins(sides)) ?? (await subjectOfContent(sides))
  } catch {
    // A failed comparison must not fail a valid commit.
    return UNKNOWN
  }
}

const UNKNOWN = 'Change data'

async function subjectOfContent({
  family,
  before,
  after,
  changedRows,
  met: metRows,
}: SubjectSides): Promise<string> {
  const rows = await changedRows?.()
  const met = metRows ? metInWords(metRows) : ''
  if (!before) {
    if (!after.payload) return 'First revision, without data'
    return rows ? `First revision: ${rowsInWords(rows.added)}${met}` : 'First revision'
  }
  if (before.damage !== undefined) return UNKNOWN
  const header = documentChanges(asJson(before.header), asJson(after.header))
  if (family.rowsFolder !== undefined) {
    if (!rows)
      return isDeepStrictEqual(before.payload, after.payload) ? sentenceOf(header ?? []) : 'Change rows'
    const said = sentenceOfRows(rows, LONGEST_SUBJECT - met.length)
    if (said !== '') return said + met
    const other = isDeepStrictEqual(before.payload, after.payload)
      ? sentenceOf(header ?? [])
      : 'Change columns'
    return other.length + met.length <= LONGEST_SUBJECT ? other + met : other
  }
  const data = documentChanges(documentIn(before), documentIn(after), after.files)
  if (!data || !header) return UNKNOWN
  // Each revision sends a whole header, so a missing member means little beside a change of the data.
  const ofHeader = data.length > 0 ? header.filter(({ isRemoval }) => !isRemoval) : header
  return sentenceOf([...data, ...ofHeader])
}

function documentIn({ payload }: RevisionContent): Json | undefined {
  return payload && documentOf(payload)
}

function asJson(header: Header): Json {
  return header as Json // decoded from JSON, or about to be written as JSON
}

/** The sentence in at most `room` characters; very large counts are shown as their sum. */
function sentenceOfRows({ added, changed, removed, moved = 0 }: ChangedRows, room: number): string {
  const parts = [
    ['Add', added],
    ['Change', changed],
    ['Remove', removed],
    ['Move', moved],
  ] as const
  const sentence = parts
    .filter(([, count]) => count > 0)
    .map(([verb, count], index) =>
      index === 0 ? `${verb} ${rowsInWords(count)}` : `${verb.toLowerCase()} ${count}`,
    )
    .join(', ')
  return sentence.length <= room ? sentence : `Change ${rowsInWords(added + changed + removed + moved)}`
}

/** What happened to sent rows that became no rows of the revision: ` (2 collapsed, 1 replaced)`. */
function metInWords({ collapsed, replaced }: MetRows): string {
  const parts = [collapsed > 0 && `${collapsed} collapsed`, replaced > 0 && `${replaced} replaced`]
  const said = parts.filter((part) => part !== false).join(', ')
  return said && ` (${said})`
}

function rowsInWords(count: number): string {
  return `${count} ${count === 1 ? 'row' : 'rows'}`
}

const MAX_PINS_COMPARED = 1000

/**
 * What a revision of an environment deployed or undeployed; undefined for another family, or if it did
 * neither.
 */
async function subjectOfPins({
  families,
  family,
  artifact,
  before,
  after,
}: SubjectSides): Promise<string | undefined> {
  if (!family.pins || before?.damage !== undefined) return undefined
  const [old, now] = [pinsOf(family, before), pinsOf(family, after)]
  if (old.size > MAX_PINS_COMPARED || now.size > MAX_PINS_COMPARED) return undefined
  const deployed = [...now.values()].filter((pin) => !isDeepStrictEqual(pin, old.get(pin.key)))
  const gone = [...old.values()].filter(({ key }) => !now.has(key))
  const [first] = [...deployed, ...gone]
  if (!first) return undefined
  const [verb, where] = deployed.length > 0 ? ['Deploy', 'to'] : ['Undeploy', 'from']
  const { name, version } = pinned(families, first)
  const shownVersion = deployed.length > 0 && version !== undefined ? ` v${version}` : ''
  const others = deployed.length + gone.length - 1
  const more = others > 0 ? ` and ${others} more` : ''
  const room = LONGEST_SUBJECT - `${verb} ${shownVersion}${more} ${where} `.length
  const half = Math.max(room - shownName(name).length, room >> 1)
  const environment = shownName(artifact, Math.min(LONGEST_NAME, half))
  const thing = shownName(name, Math.min(LONGEST_NAME, room - environment.length))
  return `${verb} ${thing}${shownVersion}${more} ${where} ${environment}`
}

function pinsOf(family: Family, content: RevisionContent | undefined): ReadonlyMap<string, Pin> {
  return new Map((content?.payload && family.pins?.(content.payload))?.map((pin) => [pin.key, pin]))
}

/** The target of a pin: its variant, else its artifact, else its key. */
function pinned(
  families: readonly Family[],
  pin: Pin,
): { readonly name: string; readonly version: number | undefined } {
  for (const family of families) {
    const { artifact, variant, revision } = referencesTo(family, pin) ?? {}
    const name = variant?.slug ?? artifact?.slug
    if (name !== undefined) return { name, version: revision?.version }
  }
  return { name: pin.key, version: undefined }
}

/** One change of a document in words: a verb, its place, and what follows. */
interface ChangeInWords {
  readonly verb: string
  readonly place: readonly string[]
  /** The file that holds the text at that place. */
  readonly file?: string | undefined
  readonly rest: string
  readonly isRemoval: boolean
}

/**
 * The changes between two documents, in order; undefined if they are too large to compare in about a
 * millisecond. `files` are the files that hold texts of the later one, by JSON Pointer.
 */
function documentChanges(
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

/** A subject from changes: the first one, and the number of others. */
function sentenceOf(changes: readonly ChangeInWords[]): string {
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

/** The file of the text at a pointer, or of the first text below it: for a message, its content. */
function fileAt(pointer: string, files: ReadonlyMap<string, string>): string | undefined {
  const file = files.get(pointer)
  if (file !== undefined) return file
  for (const [place, below] of files) if (place.startsWith(`${pointer}/`)) return below
  return undefined
}

function inWords(verb: string, place: readonly string[], rest = ''): ChangeInWords {
  return { verb, place, rest, isRemoval: verb === 'Remove' }
}

/** The text of a number or boolean; undefined for other values. */
function shownValue(value: Json): string | undefined {
  const isShown = typeof value === 'number' || typeof value === 'boolean' || value instanceof ExactNumber
  const text = isShown ? stringifyJson(value) : ''
  return text === '' || text.length > LONGEST_VALUE ? undefined : text
}

const LONGEST_VALUE = 20

/** Limits on aligning two texts. */
const MOST_LINES = 5000
const MOST_EDITS = 200
/** Alignment steps for all changed texts of a document. */
const MOST_STEPS = 200_000

/**
 * Added and removed lines as `git diff --stat` counts them; empty if the texts differ too much to compare
 * quickly.
 */
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
