import type { Json } from '../../json/json.ts'
import { isDeepStrictEqual } from 'node:util'
import { documentOf } from '../family/document-family.ts'
import type { Header } from '../artifacts/records.ts'
import { referencesTo } from '../environments/pin.ts'
import type { ChangedRows, Family, MetRows, Payload, WrittenPayload } from '../family/family.ts'
import type { Pin } from '../reference.ts'
import { documentChanges, sentenceOf } from './document-changes.ts'
import { LONGEST_NAME, LONGEST_SUBJECT, shownName } from './shown-name.ts'

/** What a revision is compared with, and what it says. */
export interface SubjectSides {
  readonly families: readonly Family[]
  readonly family: Family
  /** The slug of the artifact that it is a revision of. */
  readonly artifact: string
  /** Undefined for a revision without a parent. */
  readonly before: RevisionContent | undefined
  readonly after: RevisionContent
  readonly changedRows: WrittenPayload['changedRows']
  readonly met: WrittenPayload['met']
  readonly files: WrittenPayload['files']
}

/** Payload and header of a revision. */
export interface RevisionContent {
  readonly header: Header
  readonly payload: Payload | undefined
  /** Why they could not be decoded. */
  readonly damage?: unknown
}

/**
 * The subject of a revision that was committed without a message: what it changed of its parent, by names and counts, in at most 72
 * characters. Values are shown of numbers and booleans only. The same change has the same subject; the work is bounded, and nothing that
 * goes wrong in it fails the write.
 */
export async function revisionSubject(sides: SubjectSides): Promise<string> {
  try {
    return (await subjectOfPins(sides)) ?? (await subjectOfContent(sides))
  } catch {
    // The commit is good, whatever keeps it from being compared.
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
  files,
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
  const data = documentChanges(documentIn(before), documentIn(after), files)
  if (!data || !header) return UNKNOWN
  // A header is sent anew with each revision, so that one is missing says little beside what changed.
  const ofHeader = data.length > 0 ? header.filter(({ isRemoval }) => !isRemoval) : header
  return sentenceOf([...data, ...ofHeader])
}

function documentIn({ payload }: RevisionContent): Json | undefined {
  return payload && documentOf(payload)
}

function asJson(header: Header): Json {
  return header as Json // it was decoded from JSON, or is about to be written as such
}

/** In `room` characters at most; with very large numbers only their sum. */
function sentenceOfRows({ added, changed, removed }: ChangedRows, room: number): string {
  const parts = [
    ['Add', added],
    ['Change', changed],
    ['Remove', removed],
  ] as const
  const sentence = parts
    .filter(([, count]) => count > 0)
    .map(([verb, count], index) =>
      index === 0 ? `${verb} ${rowsInWords(count)}` : `${verb.toLowerCase()} ${count}`,
    )
    .join(', ')
  return sentence.length <= room ? sentence : `Change ${rowsInWords(added + changed + removed)}`
}

/** What became of rows that were sent and are none of the revision's: ` (2 collapsed, 1 replaced)`. */
function metInWords({ collapsed, replaced }: MetRows): string {
  const parts = [collapsed > 0 && `${collapsed} collapsed`, replaced > 0 && `${replaced} replaced`]
  const said = parts.filter((part) => part !== false).join(', ')
  return said && ` (${said})`
}

function rowsInWords(count: number): string {
  return `${count} ${count === 1 ? 'row' : 'rows'}`
}

/** More pins than these are not compared one by one. */
const MANY_PINS = 1000

/** What a revision of an environment deployed or undeployed; undefined if it is of another family, or did neither. */
async function subjectOfPins({
  families,
  family,
  artifact,
  before,
  after,
}: SubjectSides): Promise<string | undefined> {
  if (!family.pins || before?.damage !== undefined) return undefined
  const [old, now] = [pinsOf(family, before), pinsOf(family, after)]
  if (old.size > MANY_PINS || now.size > MANY_PINS) return undefined
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

/** What a pin is of: its variant, else its artifact, else the key it is under. */
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
