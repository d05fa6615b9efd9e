import { entriesOf, fromEntries, getKey, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { AcceptedDocument } from '../../versioning/family/document-family.ts'
import type { PayloadContext } from '../../versioning/family/family.ts'
import { invalid } from '../../errors.ts'
import { acceptDocument } from '../documents/accept-document.ts'
import type { AbsentName } from '../documents/no-such-key.ts'
import { noSuchKey } from '../documents/no-such-key.ts'
import { readDelta, refuseOtherMembers, type DeltaForm } from '../documents/read-delta.ts'
import { acceptReferences, MOST_PINS } from './references-map.ts'

/**
 * The data that a delta `{set, remove}` makes of `base` (interface 9.8): each group in `set` takes the place
 * of the old group of its key, new keys follow, then the keys in `remove` are taken out. Keys are literal: a dot is a dot. Refuses a delta of
 * another shape with `invalid_delta`, a group that is none with `invalid_request`, and to remove keys that are not there with `no_such_key`.
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
  // A deployment that seems to be gone goes on being served.
  if (absent.length > 0 && !isExisting) throw noSuchKey('key of the environment', absent)
  for (const key of remove) references.delete(key)
  // What has too many already, as plain git may have brought it, may shrink.
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
