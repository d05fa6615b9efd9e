import { invalid } from '../../../errors.ts'
import type { Oid } from '../../../git/objects.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'
import { objectUuid, oidPrefix, parseUuid } from '../../store/ids.ts'
import type { Windowing } from '../../store/pagination.ts'

/** The `windowing` of an answer, if more remain. */
export function pageOf(
  next: string | undefined,
  windowing: Windowing | undefined,
): { readonly windowing?: object } {
  return next === undefined ? {} : { windowing: { ...windowing, next } }
}

/** A window of a testset's distinct testcases. `next` is the id of the last one seen. */
export function cutTestcases(
  all: readonly Oid[],
  { digits }: Pick<ArtifactView, 'digits'>,
  windowing: Windowing | undefined,
): { readonly oids: readonly Oid[]; readonly next: string | undefined } {
  const ordered = windowing?.order === 'descending' ? all.toReversed() : all
  const next = windowing?.next
  const id = next === undefined ? undefined : parseUuid(next)
  const prefix = id && oidPrefix(id)
  const last = prefix
    ? ordered.findIndex((oid) => oid.startsWith(prefix) && objectUuid(oid, digits) === id)
    : -1
  if (next !== undefined && last < 0) throw unknownCursor(next)
  const end = last + 1 + (windowing?.limit ?? ordered.length)
  const oids = ordered.slice(last + 1, end)
  return { oids, next: end < ordered.length ? objectUuid(ordered[end - 1] ?? '', digits) : undefined }
}

/**
 * A window of a list of ids. `next` is the last id seen; if the list repeats it, its count so far follows it.
 */
export function cutIds(
  ids: readonly string[],
  windowing: Windowing | undefined,
): { readonly ids: readonly string[]; readonly next: string | undefined } {
  const ordered = windowing?.order === 'descending' ? ids.toReversed() : ids
  const next = windowing?.next
  const start = next === undefined ? 0 : startBehind(ordered, next)
  if (start === undefined) throw unknownCursor(next)
  const end = start + (windowing?.limit ?? ordered.length)
  const page = ordered.slice(start, end)
  return { ids: page, next: end < ordered.length ? cursorAt(ordered, end - 1) : undefined }
}

function cursorAt(ids: readonly string[], index: number): string {
  const last = ids[index] ?? ''
  const times = ids.slice(0, index + 1).filter((id) => id === last).length
  return times === 1 ? last : `${last}*${times}`
}

/** The index behind the cursor's id; undefined if the list does not hold the id that often. */
function startBehind(ids: readonly string[], cursor: string): number | undefined {
  const [, text = '', times = '1'] = /^([^*]+)(?:\*([1-9][0-9]{0,8}))?$/.exec(cursor) ?? []
  const id = parseUuid(text)
  let index = -1
  for (let left = Number(times); left > 0; left--) {
    index = id === undefined ? -1 : ids.indexOf(id, index + 1)
    if (index < 0) return undefined
  }
  return index + 1
}

function unknownCursor(next: string | undefined) {
  return invalid(
    ['body', 'windowing', 'next'],
    `"${next}" is none of these testcases. Send the \`next\` of the previous answer.`,
    'invalid_cursor',
  )
}
