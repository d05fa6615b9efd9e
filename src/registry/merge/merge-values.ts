import {
  equalJson,
  pointerToken,
  type Json,
  type JsonObject,
  fromEntries,
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  keysOf,
} from '../../base/json.ts'
import { type InSlices, Pace } from '../../base/scheduling.ts'
import { mergeOrder, pushTo } from './merge-order.ts'
import { mergeTexts } from './merge-texts.ts'
import type { ConflictKind, Merging, Place, Sides } from './merging.ts'

/** The keys and indexes that lead to a value. */
export type Path = readonly (string | number)[]

/** A family's rules for merging its documents. Without a rule, objects are merged by key, and anything else as a whole. */
export interface MergeRules {
  /** Whether the object at the path is merged as a whole. */
  isWhole?(path: Path, value: JsonObject): boolean
  /** The unit by which the text at the path is merged; undefined: as a whole. */
  textUnit?(path: Path, texts: readonly string[]): 'words' | 'lines' | undefined
  /** Ids of the items of arrays at the path: unique on a side, and equal on all sides for the same item; undefined: merged as a whole. */
  identify?(path: Path, arrays: Sides<readonly Json[]>): InSlices<Sides<readonly string[]> | undefined>
}

type Values = Sides<Json | undefined>

/** The value's pointers in the target and in the source, which may differ below arrays. */
interface At {
  readonly target: Path
  readonly source: Path
}

/** The settings of a merge, and the collector of its conflicts. */
interface Work {
  readonly rules: MergeRules
  readonly merging: Merging
  /** Converts a JSON Pointer to the place of a conflict. */
  readonly placeOf: (pointer: string) => Place
  readonly pace: Pace
}

/** Merges values by their structure; undefined stands for a missing value. `placeOf` converts a JSON Pointer to the place of a conflict. */
export function mergeValues(
  values: Values,
  rules: MergeRules,
  merging: Merging,
  placeOf: (pointer: string) => Place = (pointer) => pointer,
): InSlices<Json | undefined> {
  return merged({ rules, merging, placeOf, pace: new Pace() }, values, { target: [], source: [] })
}

function* merged(work: Work, values: Values, at: At): InSlices<Json | undefined> {
  const { base, target, source } = values
  if (work.pace.isDue) yield
  if (target === source) return target
  if (base === target) return source
  if (base === source) return target
  if (areParts(work.rules, values, at))
    return yield* mergedObjects(work, values as Sides<JsonObject | undefined>, at)
  if (isEqual(target, source)) return target
  if (isEqual(base, target)) return source
  if (isEqual(base, source)) return target
  const arrays = itemsOf(values)
  const ids = arrays && work.rules.identify && (yield* work.rules.identify(at.target, arrays))
  if (arrays && ids) return yield* mergedItems(work, arrays, ids, values, at)
  const texts = textsOf(values)
  const unit = texts && work.rules.textUnit?.(at.target, [texts.base, texts.target, texts.source])
  const text = texts && unit && (yield* mergeTexts(texts, unit, work.merging.effort))
  return text && 'text' in text ? text.text : settled(work, values, at, text?.marked)
}

/** Whether all existing values are objects that are merged by key. */
function areParts({ isWhole }: MergeRules, { base, target, source }: Values, at: At): boolean {
  if (!isJsonObject(target) || !isJsonObject(source)) return false
  if (base !== undefined && !isJsonObject(base)) return false
  return ![base, target, source].some((it) => it && isWhole?.(at.target, it))
}

function* mergedObjects(
  work: Work,
  { base, target, source }: Sides<JsonObject | undefined>,
  at: At,
): InSlices<Json> {
  if (!target || !source) throw new Error('only what both sides have is merged by key')
  const members = new Map<string, Json>()
  let isTarget = true
  for (const key of keysInOrder(target, source)) {
    const values = {
      base: base && getKey(base, key),
      target: getKey(target, key),
      source: getKey(source, key),
    }
    const value = yield* merged(work, values, {
      target: [...at.target, key],
      source: [...at.source, key],
    })
    if (value !== undefined) members.set(key, value)
    isTarget &&= value === values.target
  }
  return isTarget ? target : fromEntries(members)
}

function* mergedItems(
  work: Work,
  { base, target, source }: Sides<readonly Json[]>,
  ids: Sides<readonly string[]>,
  whole: Values,
  at: At,
): InSlices<Json | undefined> {
  const items = {
    base: byId(ids.base, base),
    target: byId(ids.target, target),
    source: byId(ids.source, source),
  }
  yield
  const left = new Map<string, Json>()
  for (const id of new Set([...ids.target, ...ids.source])) {
    const values = {
      base: items.base.get(id)?.value,
      target: items.target.get(id)?.value,
      source: items.source.get(id)?.value,
    }
    const value = yield* merged(work, values, {
      target: [...at.target, (items.target.get(id) ?? items.source.get(id))?.index ?? 0],
      source: [...at.source, (items.source.get(id) ?? items.target.get(id))?.index ?? 0],
    })
    if (value !== undefined) left.set(id, value)
  }
  let order = ids.target
  if (!isSameList(ids.base, order) || !isSameList(ids.source, order)) {
    const isLeft = (id: string): boolean => left.has(id)
    const found = yield* mergeOrder(ids, isLeft)
    order = found.order
    if (found.isContested) {
      const place = work.placeOf(pointerOf(at.target))
      const chosen = work.merging.choose({ place, kind: 'order', ...whole })
      if (chosen?.remove) return undefined
      if (chosen?.value !== undefined) return chosen.value
      if (chosen?.take) ({ order } = yield* mergeOrder(ids, isLeft, chosen.take))
    }
  }
  return order.flatMap((id) => left.get(id) ?? [])
}

function isSameList(ids: readonly string[], others: readonly string[]): boolean {
  return ids.length === others.length && ids.every((id, at) => id === others[at])
}

/** The value of a place in conflict. */
function settled(work: Work, values: Values, at: At, marked?: string): Json | undefined {
  const { base, target, source } = values
  const isOfSource = target === undefined
  const kind: ConflictKind =
    base === undefined
      ? 'both_added'
      : isOfSource || source === undefined
        ? 'changed_and_removed'
        : 'both_changed'
  return work.merging.settle({
    place: work.placeOf(pointerOf(isOfSource ? at.source : at.target)),
    ...(isOfSource && { in: 'source' as const }),
    kind,
    ...values,
    ...(marked !== undefined && { marked }),
  })
}

function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalJson(a, b)
}

/** The target's keys in their order; a key that only the source has follows the key before it there. */
function keysInOrder(target: JsonObject, source: JsonObject): readonly string[] {
  const ofSource = keysOf(source)
  const isNew = ofSource.some((key) => !hasKey(target, key))
  if (!isNew) return keysOf(target)
  const behind = new Map<string, string[]>()
  let last = ''
  for (const key of ofSource) {
    if (hasKey(target, key)) last = `=${key}`
    else pushTo(behind, last, key)
  }
  return [
    ...(behind.get('') ?? []),
    ...keysOf(target).flatMap((key) => [key, ...(behind.get(`=${key}`) ?? [])]),
  ]
}

function itemsOf({ base = [], target, source }: Values): Sides<readonly Json[]> | undefined {
  return isJsonArray(base) && isJsonArray(target) && isJsonArray(source)
    ? { base, target, source }
    : undefined
}

function textsOf({ base = '', target, source }: Values): Sides<string> | undefined {
  return typeof base === 'string' && typeof target === 'string' && typeof source === 'string'
    ? { base, target, source }
    : undefined
}

interface Item {
  readonly index: number
  readonly value: Json
}

function byId(ids: readonly string[], items: readonly Json[]): ReadonlyMap<string, Item> {
  return new Map(items.map((value, index) => [ids[index] ?? '', { index, value }]))
}

function pointerOf(path: Path): string {
  return path.map((key) => `/${pointerToken(String(key))}`).join('')
}
