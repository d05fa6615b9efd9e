import type { Json, JsonObject } from '../../json/json.ts'
import { getKey, isJsonArray, isJsonObject, keysOf } from '../../json/json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import type { InSlices } from '../../scheduling/cooperative.ts'
import { Pace } from '../../scheduling/cooperative.ts'
import type { MergeRules, Path } from '../../versioning/merge/merge-values.ts'
import type { Sides } from '../../versioning/merge/merging.ts'
import { eachSide } from '../../versioning/merge/merging.ts'
import { matchTexts } from '../../versioning/texts/match-texts.ts'
import type { PlacedText } from '../../versioning/texts/placed-text.ts'
import { isLongText, isNeverText } from './texts/find-texts.ts'

/**
 * How two revisions' data are merged: texts by line and word, the script by line, messages as texts are followed from one revision to the
 * next, tools by name or id, what an embed refers to as one thing.
 */
export const workflowMergeRules: MergeRules = { isWhole: isEmbed, textUnit, identify }

function isEmbed(_path: Path, value: JsonObject): boolean {
  return keysOf(value).some((key) => key.startsWith('@svc.'))
}

function textUnit(path: Path, texts: readonly string[]): 'words' | 'lines' | undefined {
  if (path.length === 1 && path[0] === 'script') return 'lines'
  if (path[0] !== 'parameters' || isNeverText(path.at(-1) ?? '')) return undefined
  const isMessage = path.includes('messages') && (path.at(-1) === 'content' || path.at(-1) === 'text')
  return isMessage || texts.some(isLongText) ? 'words' : undefined
}

function* identify(
  path: Path,
  arrays: Sides<readonly Json[]>,
): InSlices<Sides<readonly string[]> | undefined> {
  if (path.at(-1) === 'messages') return yield* identifyMessages(arrays)
  return path.at(-1) === 'tools' ? identifyTools(arrays) : undefined
}

/** The base's messages are told by their places; another side's is the one that it goes on from, else a new one. */
function* identifyMessages({
  base,
  target,
  source,
}: Sides<readonly Json[]>): InSlices<Sides<readonly string[]> | undefined> {
  const messages = eachSide({ base, target, source }, (items) => items.map(placedMessage))
  const areMessages = [messages.base, messages.target, messages.source].every((side) =>
    side.every((it) => it !== undefined),
  )
  if (!areMessages) return undefined
  const placed = eachSide(messages, (side) => side.flatMap((it) => it ?? []))
  yield
  const placeInBase = new Map(placed.base.map((text, at) => [text, at]))
  function* follow(side: readonly PlacedText[], prefix: string): InSlices<string[]> {
    const found = yield* matchTexts(side, placed.base)
    return side.map((text, at) => {
      const earlier = found.get(text)
      return earlier ? `base ${placeInBase.get(earlier) ?? 0}` : `${prefix} ${at}`
    })
  }
  const ofTarget = yield* follow(placed.target, 'target')
  const ofSource = yield* follow(placed.source, 'source')
  const pace = new Pace()
  const added = new Map<string, string>()
  for (const [at, item] of target.entries()) {
    added.set(`${ofTarget[at - 1] ?? ''} ${stringifyJson(item)}`, ofTarget[at] ?? '')
    if (pace.isDue) yield
  }
  // What both added alike behind the same message is one message.
  for (const [at, item] of source.entries()) {
    if (pace.isDue) yield
    const same = added.get(`${ofSource[at - 1] ?? ''} ${stringifyJson(item)}`)
    if (ofSource[at] === `source ${at}` && same?.startsWith('target ')) ofSource[at] = same
  }
  return { base: placed.base.map((_, at) => `base ${at}`), target: ofTarget, source: ofSource }
}

function placedMessage(item: Json, at: number): PlacedText | undefined {
  if (!isJsonObject(item)) return undefined
  const [role, content] = [getKey(item, 'role'), getKey(item, 'content')]
  if (role === undefined) return undefined
  return {
    keys: [at],
    pointer: `/${at}`,
    message: { array: '', role: typeof role === 'string' ? role : undefined },
    text: saidIn(content) ?? stringifyJson(item),
  }
}

/** The text of a message's content; undefined if it has none. */
function saidIn(content: Json | undefined): string | undefined {
  if (typeof content === 'string') return content
  if (!isJsonArray(content)) return undefined
  const texts = content.flatMap((part) => {
    const text = isJsonObject(part) ? getKey(part, 'text') : undefined
    return typeof text === 'string' ? text : []
  })
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** Tools by their ids or names, where each has one of its own. */
function identifyTools(arrays: Sides<readonly Json[]>): Sides<readonly string[]> | undefined {
  const ids = eachSide(arrays, (items) => items.map(nameOf))
  const areNamed = [ids.base, ids.target, ids.source].every(
    (side) => side.every((id) => id !== undefined) && new Set(side).size === side.length,
  )
  return areNamed ? eachSide(ids, (side) => side.flatMap((id) => id ?? [])) : undefined
}

function nameOf(tool: Json): string | undefined {
  if (!isJsonObject(tool)) return undefined
  const of = getKey(tool, 'function')
  for (const name of [getKey(tool, 'id'), getKey(tool, 'name'), isJsonObject(of) && getKey(of, 'name')])
    if (typeof name === 'string') return name
  return undefined
}
