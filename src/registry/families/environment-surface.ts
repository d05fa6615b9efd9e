import type { Surface } from './surface.ts'
import {
  type AcceptedDocument,
  type DocumentDefinition,
  documentFamily,
  type PayloadFile,
} from '../payload/document-family.ts'
import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  withoutKey,
  isLight,
} from '../../base/json.ts'
import type { PayloadContext, PresentContext } from '../payload/family.ts'
import type { Pin, Reference } from '../store/reference.ts'
import { acceptDocument, type MemberReader, readClosedObject } from '../documents/closed-object.ts'
import { formatValueForPeople, ProblemCollector, typeName } from '../documents/problems.ts'
import { decodeDocument, decodeJsonFile } from '../documents/stored-json.ts'
import { invalid } from '../../errors.ts'
import {
  type AbsentName,
  type DeltaForm,
  noSuchKey,
  readDelta,
  refuseOtherMembers,
} from '../documents/deltas.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { parseUuid } from '../store/ids.ts'
import { slugProblem } from '../slugs/slug.ts'

/**
 * Reads a map of pins for storing (interface 9.9): each key has a group, and each name in a group a reference `{id?, slug?, version?}`. Ids
 * become lower case and versions numbers (interface 4.5); other members are dropped. A reference may point at nothing, and a group may be
 * empty.
 */
function readReferences(map: Json, problems: ProblemCollector): JsonObject {
  return readGroups(map, problems, knownPart)
}

/** The same for a map that came by git, group by group, so that other work can run in between. */
async function readReferencesInTurns(map: Json, problems: ProblemCollector): Promise<JsonObject> {
  return isJsonObject(map) ? readGroupsInTurns(map, problems, knownPart) : readReferences(map, problems)
}

/** The same for a map that a client sends. */
async function acceptReferencesInTurns(map: JsonObject, problems: ProblemCollector): Promise<JsonObject> {
  return isWithinBound(map, problems) ? readGroupsInTurns(map, problems, (reference) => reference) : {}
}

async function readGroupsInTurns(
  map: JsonObject,
  problems: ProblemCollector,
  partOf: (reference: Json) => Json,
): Promise<JsonObject> {
  const groups: [string, Json][] = []
  await new TimeSlice().each(entriesOf(map), ([key, group]) => {
    groups.push([key, problems.below(key, () => readGroup(group, problems, partOf))])
  })
  return fromEntries(groups)
}

function readGroups(map: Json, problems: ProblemCollector, partOf: (reference: Json) => Json): JsonObject {
  return readEach(map, 'references must be an object of groups by key', problems, (group) =>
    readGroup(group, problems, partOf),
  )
}

function readGroup(group: Json, problems: ProblemCollector, partOf: (reference: Json) => Json): JsonObject {
  return readEach(group, 'a group must be an object of references by name', problems, (reference) =>
    readClosedObject(partOf(reference), 'a reference', readers, problems),
  )
}

/**
 * The same for a client's map, which has size limits and no other members. A map that came by plain git before the limits existed is still
 * readable.
 */
function acceptReferences(map: Json, problems: ProblemCollector): JsonObject {
  return isWithinBound(map, problems) ? readGroups(map, problems, (reference) => reference) : {}
}

/** Maximum keys of an environment, and maximum references in all. */
const MOST_PINS = 10_000
const MOST_REFERENCES = 3 * MOST_PINS

/** Checks the map's size before it is read; adds the problem if it is too large. */
function isWithinBound(map: Json, problems: ProblemCollector): boolean {
  const groups = isJsonObject(map) ? entriesOf(map) : []
  let references = 0
  if (groups.length <= MOST_PINS) {
    for (const [, group] of groups) if (isJsonObject(group)) references += keysOf(group).length
    if (references <= MOST_REFERENCES) return true
  }
  const [what, most] = groups.length > MOST_PINS ? ['keys', MOST_PINS] : ['references', MOST_REFERENCES]
  problems.add(`references must have at most ${most} ${what} in all; use several environments`, 'too_long')
  return false
}

function readEach(
  map: Json,
  rule: string,
  problems: ProblemCollector,
  read: (member: Json) => Json,
): JsonObject {
  if (!isJsonObject(map)) {
    problems.add(`${rule}, but it is ${typeName(map)}`, 'object_type')
    return {}
  }
  return fromEntries(entriesOf(map).map(([key, member]) => [key, problems.below(key, () => read(member))]))
}

function knownPart(reference: Json): Json {
  return isJsonObject(reference)
    ? fromEntries(entriesOf(reference).filter(([key]) => readers.has(key)))
    : reference
}

const readers: ReadonlyMap<string, MemberReader> = new Map<string, MemberReader>([
  ['id', readId],
  ['slug', readSlug],
  ['version', readVersion],
])

function readId(id: Json, problems: ProblemCollector): string | undefined {
  const read = typeof id === 'string' ? parseUuid(id) : undefined
  if (read === undefined)
    problems.add(`an id must be a UUID, but this is ${formatValueForPeople(id)}`, 'uuid_parsing')
  return read
}

function readSlug(slug: Json, problems: ProblemCollector): string | undefined {
  if (typeof slug !== 'string') {
    problems.add(`a slug must be a string, but it is ${typeName(slug)}`, 'string_type')
    return undefined
  }
  const problem = slugProblem(slug)
  if (problem !== undefined) problems.add(`the slug ${formatValueForPeople(slug)} ${problem}`, 'invalid_slug')
  return slug
}

function readVersion(version: Json, problems: ProblemCollector): number | undefined {
  const number = typeof version === 'string' && /^[0-9]{1,15}$/.test(version) ? Number(version) : version
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 1) return number
  problems.add(
    `a version must be a whole number from 1 on, but this is ${formatValueForPeople(version)}`,
    'invalid_version',
  )
  return undefined
}

/**
 * Applies a delta `{set, remove}` to `base` (interface 9.8): each group in `set` replaces the group of its key, new keys follow, then the
 * keys in `remove` are removed. Keys are literal: a dot is a dot. Refuses a delta of another shape with `invalid_delta`, an invalid group
 * with `invalid_request`, and removing missing keys with `no_such_key`.
 */
export function applyEnvironmentDelta(
  base: JsonObject | undefined,
  delta: Json,
  { loc, isExisting }: PayloadContext,
): AcceptedDocument {
  const { set, remove } = readDelta(delta, loc, FORM)
  const groups = acceptDocument(set, [...loc, 'set'], acceptReferences).data
  const old = base && getKey(base, 'references')
  const references = new Map(isJsonObject(old) ? entriesOf(old) : [])
  const before = references.size
  for (const [key, group] of entriesOf(groups)) references.set(key, group)
  const absent = remove.flatMap((name, index): AbsentName | [] =>
    references.has(name) ? [] : { name, loc: [...loc, 'remove', index], known: references.keys() },
  )
  // Otherwise a client would believe that it removed a deployment that is still served.
  if (absent.length > 0 && !isExisting) throw noSuchKey('key of the environment', absent)
  for (const key of remove) references.delete(key)
  // A map with too many pins, which may have come by plain git, may shrink.
  if (references.size > MOST_PINS && references.size > before) {
    throw invalid(
      [...loc, 'set'],
      `references must have at most ${MOST_PINS} keys in all, but there would be ${references.size}; use several environments`,
      'too_long',
    )
  }
  return { data: { references: fromEntries(references) }, warnings: [] }
}

const FORM: DeltaForm = {
  entries: 'keys',
  entryProblem: () => undefined,
  check: refuseOtherMembers,
}

/** The file with the map of pins (interface 15.5). */
const REFERENCES_FILE = 'references.json'

/** Whether this path of a commit's tree is that file. */
export function isEnvironmentFile(path: string): boolean {
  return path === REFERENCES_FILE
}

/** The file that holds an environment's data (interface 15.5): `references.json` is the map of pins itself. */
export function encodeEnvironment(data: JsonObject): readonly PayloadFile[] {
  const references = getKey(data, 'references')
  return [{ path: REFERENCES_FILE, content: isJsonObject(references) ? references : {} }]
}

/**
 * Reads an environment's data from a commit's tree; undefined if the tree has no `references.json`. If the file holds a map that REST would
 * have refused, throws `damaged_repository`, which lists the wrong keys.
 */
export async function decodeEnvironment(
  read: (path: string) => Promise<Buffer | undefined>,
  maxValues?: number,
): Promise<JsonObject | undefined> {
  const bytes = await read(REFERENCES_FILE)
  if (bytes === undefined) return undefined
  const map = decodeJsonFile(REFERENCES_FILE, bytes, 'a map of references', maxValues)
  return { references: await decodeDocument(REFERENCES_FILE, map, readReferencesInTurns) }
}

/**
 * Converts a client's `data` object for storing (interface 9.9): `references` is its only key; without references, the map is empty.
 * Refuses with one `invalid_request` that lists every problem at its place below `context.loc`.
 */
export function acceptEnvironmentData(data: Json, { loc }: PayloadContext): AcceptedDocument {
  return acceptDocument(data, loc, readData)
}

/** The same, group by group if there are many, so that other work can run in between. */
async function acceptEnvironmentInTurns(
  data: Json,
  context: Pick<PayloadContext, 'loc' | 'servicesBase'>,
): Promise<AcceptedDocument> {
  const sent = isJsonObject(data) ? getKey(data, 'references') : undefined
  if (!isJsonObject(data) || !isJsonObject(sent) || isLight(sent)) return acceptEnvironmentData(data, context)
  // Refuses all other keys.
  acceptEnvironmentData(withoutKey(data, 'references'), context)
  const problems = new ProblemCollector([...context.loc, 'references'])
  const references = await acceptReferencesInTurns(sent, problems)
  const refusal = problems.refusal('invalid_request')
  if (refusal) throw refusal
  return { data: { references }, warnings: [] }
}

function readData(data: Json, problems: ProblemCollector): JsonObject {
  const read = readClosedObject(data, 'data', new Map([['references', acceptReferences]]), problems)
  return { references: getKey(read, 'references') ?? {} }
}

/** The pins of an environment's data, in order. */
function environmentPins(data: JsonObject): readonly Pin[] {
  return membersOf(getKey(data, 'references')).map(([key, group]) => ({
    key,
    references: new Map(membersOf(group).map(([name, reference]) => [name, referenceOf(reference)])),
  }))
}

function membersOf(value: Json | undefined): readonly [string, Json][] {
  return isJsonObject(value) ? entriesOf(value) : []
}

function referenceOf(value: Json): Reference {
  const members = new Map(membersOf(value))
  const [id, slug, version] = [members.get('id'), members.get('slug'), members.get('version')]
  const reference: { -readonly [key in keyof Reference]: Reference[key] } = {}
  if (typeof id === 'string') reference.id = id
  if (typeof slug === 'string') reference.slug = slug
  if (typeof version === 'number') reference.version = version
  return reference
}

/** An environment's data for a reader: the versions of its references as numbers or as text (interface 4.5). */
function presentEnvironment(
  data: JsonObject,
  { versionType }: Pick<PresentContext, 'versionType'>,
): JsonObject {
  if (versionType !== 'string') return data
  return mapMembers(data, (references) =>
    mapMembers(references, (group) => mapMembers(group, (reference) => mapMembers(reference, versionAsText))),
  ) as JsonObject // an object of members is still an object
}

function mapMembers(value: Json, map: (member: Json, key: string) => Json): Json {
  return isJsonObject(value)
    ? fromEntries(entriesOf(value).map(([key, member]) => [key, map(member, key)]))
    : value
}

function versionAsText(member: Json, key: string): Json {
  return key === 'version' ? String(member) : member
}

/** An environment's payload: its `data` object with the map of pins, and its file. */
export const environmentDocument: DocumentDefinition = {
  name: 'environment',
  folder: 'environments',
  roles: ['is_guarded'],
  flagNames: [],
  guardFlag: 'is_guarded',
  ownsFile: isEnvironmentFile,
  file: REFERENCES_FILE,
  boundedBy: 'keys',
  encode: encodeEnvironment,
  decode: decodeEnvironment,
  accept: acceptEnvironmentInTurns,
  applyDelta: applyEnvironmentDelta,
  flags: () => ({}),
  // A pin is merged as a whole: a mixture of two pins would be a deployment that no user made.
  mergeRules: { isWhole: (path) => path.length === 2 },
  pins: environmentPins,
  present: presentEnvironment,
}

/** Environments: what is deployed, with history (interface 9.1). */
export const environmentFamily = documentFamily(environmentDocument)

/** The surface over environments (interface 9.1). */
export const environmentSurface: Surface = {
  path: 'environments',
  singular: 'environment',
  plural: 'environments',
  family: environmentFamily,
  fixedFlags: {},
  readFlags: [],
  isDeployable: false,
  hasCatalog: false,
  payload: 'document',
  example: {
    references: {
      'support-bot.revision': {
        application: { slug: 'support-bot' },
        application_revision: { slug: 'support-bot', version: 3 },
      },
    },
  },
}
