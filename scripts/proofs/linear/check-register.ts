import type { Operation, Register, Version } from './operation.ts'

/**
 * Whether a recorded history is linearizable: whether every operation can have happened at one moment between its start and its
 * end. Answers a sentence for each thing that forbids it.
 *
 * The general question (Wing and Gong) needs a search, because the order of writes is unknown. Here git has recorded it: version k
 * came at some moment t(k), and t(1) <= t(2) <= …. Each operation then says no more than "t(k) was not before" or "not after":
 *
 *     a write of version k        start <= t(k) <= end
 *     a read of version k         t(k) <= end, and start <= t(k + 1)
 *     a refusal of base k         t(k + 1) <= end
 *
 * (Whoever names a base has seen it, so t(k) <= start is known.) Such moments exist if and only if taking each as early as it may be
 * is never too late, so one pass decides. Registers are looked at one by one: a history of several is linearizable if each is.
 */
export function checkRegister({ versions, before, operations }: Register): string[] {
  const problems: string[] = []
  const places = placesOf(versions, problems)
  const moments = versions.map((): Moment => ({}))
  const known = new Set<string>()
  for (const operation of operations) {
    if (operation.kind !== 'read') known.add(operation.token)
    const problem = bound(operation, versions, places, moments)
    if (problem !== undefined) problems.push(`${described(operation)}: ${problem}`)
  }
  for (const { token } of versions.slice(before)) {
    if (!known.has(token)) problems.push(`"${token}" is a version that nobody asked for`)
  }
  return [...problems, ...orderOf(moments)]
}

/** What is known of the moment when a version came, and from whom. */
interface Moment {
  notBefore?: Limit
  notAfter?: Limit
}

interface Limit {
  readonly at: number
  readonly by: Operation
}

function placesOf(versions: readonly Version[], problems: string[]): Map<string, number> {
  const places = new Map<string, number>()
  versions.forEach(({ token }, index) => {
    if (places.has(token)) problems.push(`"${token}" is both version ${places.get(token)} and ${index + 1}`)
    else places.set(token, index + 1)
  })
  return places
}

/** Narrows the moments by what one operation says; answers what is wrong with it by itself. */
function bound(
  operation: Operation,
  versions: readonly Version[],
  places: ReadonlyMap<string, number>,
  moments: readonly Moment[],
): string | undefined {
  if (operation.kind === 'read') {
    const { version, key, value } = operation
    const read = versions[version - 1]
    if (!read) return `there are only ${versions.length} versions`
    if (read.values.get(key) !== value) return `the version holds ${read.values.get(key)}`
    notAfter(moments[version - 1], operation)
    notBefore(moments[version], operation)
    return undefined
  }
  const place = places.get(operation.token)
  if (operation.kind === 'refused') {
    if (place !== undefined) return `it was refused, and is version ${place}`
    if (!moments[operation.base]) return 'nothing came after its base'
    notAfter(moments[operation.base], operation)
    return undefined
  }
  if (place !== undefined) notBefore(moments[place - 1], operation)
  if (operation.kind === 'unsure') return undefined
  if (place === undefined) return 'it was acknowledged, and is lost'
  notAfter(moments[place - 1], operation)
  const { version = place, base = place - 1 } = operation
  if (version !== place) return `it was answered as version ${version}, and is ${place}`
  return base === place - 1 ? undefined : `it was to follow version ${base}, and is ${place}`
}

function notBefore(moment: Moment | undefined, by: Operation): void {
  if (moment && !(by.start <= (moment.notBefore?.at ?? -Infinity))) moment.notBefore = { at: by.start, by }
}

function notAfter(moment: Moment | undefined, by: Operation): void {
  if (moment && !(by.end >= (moment.notAfter?.at ?? Infinity))) moment.notAfter = { at: by.end, by }
}

function orderOf(moments: readonly Moment[]): string[] {
  const problems: string[] = []
  let earliest: Limit | undefined
  moments.forEach(({ notBefore, notAfter }, index) => {
    if (notBefore && notBefore.at > (earliest?.at ?? -Infinity)) earliest = notBefore
    if (!earliest || !notAfter || earliest.at <= notAfter.at) return
    problems.push(
      `version ${index + 1} came before the end of ${described(notAfter.by)} and after the start of ${described(earliest.by)}`,
    )
    earliest = notAfter
  })
  return problems
}

function described(operation: Operation): string {
  const { kind, client, start, end } = operation
  const what = kind === 'read' ? `version ${operation.version}` : `"${operation.token}"`
  return `${kind} of ${what} by ${client} (${start.toFixed(1)} to ${end.toFixed(1)} ms)`
}
