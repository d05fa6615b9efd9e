import type { RevisionFilter } from '../artifacts/filters.ts'
import { naming } from '../artifacts/filters.ts'
import type { ArtifactQuery } from '../artifacts/query-artifacts.ts'
import type { Family } from '../payload/family.ts'
import { parseUuid, repositoryDigits } from '../store/ids.ts'
import type { RevisionKey, RevisionQuestion } from '../index/database/find-revisions.ts'
import type { Windowing } from '../store/pagination.ts'
import { boundsOf, isDescending } from '../store/pagination.ts'
import type { Reference } from '../store/reference.ts'

/** A query of revisions across the project. */
export interface RevisionQuery extends Omit<ArtifactQuery, 'filter'> {
  readonly filter: RevisionFilter
  readonly revisions?: readonly Reference[] | undefined
  /** Only revisions that changed the pins of one of these artifacts (interface 9.12). */
  readonly pinned?: readonly Reference[] | undefined
  /** Aborts the query. */
  readonly signal?: AbortSignal | undefined
}

/** A query of revisions with its references resolved. */
export interface RevisionAsk extends RevisionQuery {
  /** The only ids wanted, if set. */
  readonly named: ReadonlySet<string> | undefined
  /** The key of the row that the cursor names; the page begins behind it. */
  readonly cursor: RevisionKey | undefined
}

/** Whether the query names artifacts, variants or revisions, so that it excludes most artifacts. */
export function isNarrow({ named, of, artifacts, variants }: RevisionAsk): boolean {
  return (
    named !== undefined ||
    of?.artifact !== undefined ||
    of?.variant !== undefined ||
    naming(artifacts).length > 0 ||
    naming(variants).length > 0
  )
}

/** The question that a query asks the index. */
export function questionOf(family: Family, ask: RevisionAsk): RevisionQuestion {
  const { filter, named, of, roles, windowing } = ask
  const asked = Object.entries(filter.flags ?? {}).filter(([name]) => family.roles.includes(name))
  const lists = (one: string | undefined, several: RevisionQuery['artifacts']) =>
    [one === undefined ? [] : [{ id: one }], naming(several)].filter((list) => list.length > 0)
  return {
    family: family.folder,
    isDown: isDescending(windowing),
    spans: spansOf(windowing, oneOf(filter.date, filter.dates)),
    behind: ask.cursor,
    includeArchived: ask.includeArchived === true,
    flags: [...Object.entries(roles), ...asked],
    artifacts: lists(of?.artifact, ask.artifacts),
    digits: named && [...new Set([...named].map(repositoryDigits))],
    variants: lists(of?.variant, ask.variants),
    authors: oneOf(filter.author, filter.authors)?.map((author) => parseUuid(author) ?? author),
    message: filter.message?.toLowerCase(),
  }
}

/** The values a filter gives by a single field and by a list; undefined if it gives neither. */
export function oneOf<T>(one: T | undefined, several: readonly T[] | undefined): readonly T[] | undefined {
  return one === undefined ? several : [one, ...(several ?? [])]
}

/** The spans of seconds that the window and the requested commit times (RFC 3339) allow, in list order. */
function spansOf(
  windowing: Windowing | undefined,
  dates: readonly string[] | undefined,
): RevisionQuestion['spans'] {
  const [from, to] = secondsOf(windowing)
  if (!dates) return [[from, to]]
  const times = new Set(dates.map((date) => Date.parse(date) / 1000))
  const spans = [...times]
    .filter((time) => Number.isInteger(time) && time >= from && time <= to)
    .sort((a, b) => (isDescending(windowing) ? b - a : a - b))
  return spans.map((time) => [time, time] as const)
}

function secondsOf(windowing: Windowing | undefined): readonly [from: number, to: number] {
  const bounds = boundsOf(windowing)
  const [oldest, newest] = [windowing?.oldest, windowing?.newest]
  let from = oldest === undefined ? Number.MIN_SAFE_INTEGER : Math.ceil(Date.parse(oldest) / 1000)
  let to = newest === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(Date.parse(newest) / 1000)
  if (bounds?.isTooOld(from * 1000)) from++
  if (bounds?.isTooNew(to * 1000)) to--
  return [from, to]
}
